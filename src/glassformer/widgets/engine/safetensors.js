// Read a safetensors file: header length, JSON header, tensor data.
(function (glassformer) {
  const LENGTH_BYTES = 8;

  const FORMATS = {
    F32: { size: 4, read: (buffer) => new Float32Array(buffer) },
    F16: { size: 2, read: readFloat16 },
    BF16: { size: 2, read: readBfloat16 },
  };

  /**
   * Read an ArrayBuffer into a Map from names to `{ shape, values }`, the values as a Float32Array. Throws an Error
   * that says what is wrong with the file.
   */
  function readSafetensors(buffer) {
    if (!(buffer instanceof ArrayBuffer)) throw damaged("it was not read as an ArrayBuffer");
    const { header, start } = readHeader(buffer);
    delete header.__metadata__;
    const entries = Object.entries(header).map(([name, entry]) => validateEntry(name, entry));
    validateOffsets(entries, buffer.byteLength - start);
    return new Map(
      entries.map(({ name, shape, begin, end, read }) => [
        name,
        { shape, values: read(buffer.slice(start + begin, start + end)) },
      ]),
    );
  }

  function readHeader(buffer) {
    if (buffer.byteLength < LENGTH_BYTES) throw damaged(`it has only ${buffer.byteLength} bytes`);
    const length = Number(new DataView(buffer).getBigUint64(0, true));
    const start = LENGTH_BYTES + length;
    if (start > buffer.byteLength) {
      throw damaged(`its header should have ${length} bytes, but the whole file has ${buffer.byteLength}`);
    }
    let header;
    try {
      header = JSON.parse(
        new TextDecoder("utf-8", { fatal: true }).decode(buffer.slice(LENGTH_BYTES, start)),
      );
    } catch (error) {
      throw damaged(`its header is not JSON (${error.message})`);
    }
    if (header === null || typeof header !== "object") throw damaged("its header names no tensors");
    return { header, start };
  }

  /** Validate one entry of the header. */
  function validateEntry(name, entry) {
    const { dtype, shape, data_offsets: offsets } = entry ?? {};
    if (!areCounts(shape) || !areCounts(offsets) || offsets.length !== 2) {
      throw damaged(`its header lacks the shape or the offsets of ${name}`);
    }
    if (!Object.hasOwn(FORMATS, dtype)) {
      throw damaged(
        `${name} has dtype ${dtype}, but only ${Object.keys(FORMATS).join(", ")} are supported`,
      );
    }
    const { size, read } = FORMATS[dtype];
    const [begin, end] = offsets;
    const bytes = shape.reduce((product, length) => product * length, size);
    if (end - begin !== bytes) {
      throw damaged(`${name} should have ${bytes} bytes for its shape (${shape}), but has ${end - begin}`);
    }
    return { name, shape, begin, end, read };
  }

  /** Validate that the tensors fill the file without gaps or overlaps. */
  function validateOffsets(entries, length) {
    let reached = 0;
    for (const { name, begin, end } of [...entries].sort((one, other) => one.begin - other.begin)) {
      if (begin !== reached) throw damaged(`${name} should begin at byte ${reached}, but begins at ${begin}`);
      reached = end;
    }
    if (reached !== length) {
      throw damaged(`its tensors have ${reached} bytes, but ${length} follow the header`);
    }
  }

  function areCounts(numbers) {
    return Array.isArray(numbers) && numbers.every((number) => Number.isSafeInteger(number) && number >= 0);
  }

  let float16Table;

  function readFloat16(buffer) {
    float16Table ??= Float32Array.from({ length: 2 ** 16 }, (_, bits) => decodeFloat16(bits));
    const bits = new Uint16Array(buffer);
    const values = new Float32Array(bits.length);
    for (let i = 0; i < bits.length; i++) values[i] = float16Table[bits[i]];
    return values;
  }

  /** Decode a float16: one sign bit, five exponent bits, ten fraction bits. */
  function decodeFloat16(bits) {
    const sign = bits >> 15 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = (bits & 1023) / 1024;
    if (exponent === 31) return fraction ? NaN : sign * Infinity;
    return sign * (exponent ? (1 + fraction) * 2 ** (exponent - 15) : fraction * 2 ** -14);
  }

  /** Decode bfloat16, the upper half of a float32. */
  function readBfloat16(buffer) {
    const upper = new Uint16Array(buffer);
    const bits = new Uint32Array(upper.length);
    for (let i = 0; i < bits.length; i++) bits[i] = upper[i] << 16;
    return new Float32Array(bits.buffer);
  }

  function damaged(what) {
    return new Error(`The weights file must be a valid safetensors file, but ${what}.`);
  }

  Object.assign(glassformer, { readSafetensors });
})((globalThis.glassformer ??= {}));
