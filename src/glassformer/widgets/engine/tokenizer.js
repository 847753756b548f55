// Byte-pair encoding, exactly as in `data/tokenizer.py`, which explains how words are split.
(function (glassformer) {
  const SPECIAL_TOKENS = ["<pad>", "<start>", "<end>"];
  const [PAD_ID, START_ID, END_ID] = SPECIAL_TOKENS.keys();
  const NUM_BYTES = 256;
  const UTF8 = new TextEncoder();
  const LENIENT = new TextDecoder("utf-8", { ignoreBOM: true });
  const STRICT = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

  const ENDING = String.raw`'(?:[stmd]|re|ve|ll)(?!\p{L})`;
  const ELISION = String.raw`(?<=[\p{L}\p{M}])(?!${ENDING})'(?=\p{L})`;
  const WORDS = [
    ENDING,
    String.raw`[ -]?[\p{L}\p{M}]+(?:'(?= \p{L}))?`,
    String.raw` ?\p{N}`,
    String.raw` ?[^\s\p{L}\p{M}\p{N}]`,
  ].join("|");

  // JavaScript's \s is not quite Unicode's White_Space.
  const BLANKS = /\p{White_Space}+/gu;
  const CUTS = {
    elision: new RegExp(ELISION, "gu"),
    // Applied after all white space has become spaces; a space before another one is a piece by itself.
    word: new RegExp(`${WORDS.replace(String.raw`\s`, " ")}| `, "gu"),
  };

  // Everything that `Tokenizer.save` writes except the learned merges.
  const FORMAT = {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: [],
    normalizer: {
      type: "Sequence",
      normalizers: [
        { type: "NFC" },
        { type: "Replace", pattern: { Regex: String.raw`\s+` }, content: " " },
        { type: "Strip", strip_left: true, strip_right: true },
        { type: "Replace", pattern: { String: "’" }, content: "'" },
        { type: "Replace", pattern: { String: "' " }, content: "'  " },
        { type: "Replace", pattern: { Regex: ELISION }, content: "' " },
        { type: "Prepend", prepend: " " },
      ],
    },
    pre_tokenizer: {
      type: "Sequence",
      pretokenizers: [
        { type: "Split", pattern: { Regex: WORDS }, behavior: "Isolated", invert: false },
        { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: false },
      ],
    },
    post_processor: null,
    decoder: null,
    model: {
      type: "BPE",
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
    },
  };

  /** Splits sentences into subword tokens by byte-pair encoding. */
  class Tokenizer {
    #bytesOf;
    #rankOf = new Map();
    #mergedIds;

    /** Read the text of a `tokenizer.json`; only files written by `Tokenizer.save` are accepted. */
    constructor(text) {
      const merges = readMerges(text);
      const pieces = listPieces(merges);
      const idOf = new Map(pieces.map((piece, id) => [piece, id]));
      const byteOf = new Map(byteCharacters().map((character, byte) => [character, byte]));
      this.#bytesOf = pieces.map((piece, id) =>
        id < SPECIAL_TOKENS.length ? new Uint8Array() : Uint8Array.from(piece, (character) => byteOf.get(character)),
      );
      merges.forEach(([left, right], rank) =>
        this.#rankOf.set(this.#pair(idOf.get(left), idOf.get(right)), rank),
      );
      this.#mergedIds = merges.map((pair) => idOf.get(pair.join("")));
    }

    /** Number of ids: special tokens, bytes and merged pieces. */
    get vocabularySize() {
      return this.#bytesOf.length;
    }

    /** Encode a sentence without special tokens; a blank one has no ids. */
    encode(sentence) {
      if (typeof sentence !== "string") throw new Error(`A sentence must be text, got ${typeof sentence}.`);
      if (/\p{Surrogate}/u.test(sentence)) throw new Error("A sentence must not contain half of a surrogate pair.");
      const words = splitWords(normalize(sentence));
      return words.flatMap((word) =>
        this.#merge(Array.from(UTF8.encode(word), (byte) => SPECIAL_TOKENS.length + byte)),
      );
    }

    /** Decode ids up to the first end, without special tokens. Invalid bytes become "�". */
    decode(ids) {
      ids.forEach((id) => this.#requireId(id));
      const content = ids.includes(END_ID) ? ids.slice(0, ids.indexOf(END_ID)) : ids;
      const bytes = content.flatMap((id) => [...this.#bytesOf[id]]);
      return LENIENT.decode(Uint8Array.from(bytes)).replace(/^ /, "").replaceAll("' ", "'");
    }

    /** Spell an id: a special token by its name, "▁" for a space, "\xf0" for an incomplete byte. */
    piece(id) {
      this.#requireId(id);
      return SPECIAL_TOKENS[id] ?? spell(this.#bytesOf[id]).replaceAll(" ", "▁");
    }

    /** Apply the merges in the order in which they were learned, each from left to right. */
    #merge(ids) {
      const { length } = ids;
      const before = ids.map((_, place) => place - 1);
      const after = ids.map((_, place) => place + 1);
      const rankAt = (place) => this.#rankOf.get(this.#pair(ids[place], ids[after[place]]));
      const queue = new Heap();
      const enqueue = (place) => {
        const rank = rankAt(place);
        if (rank !== undefined) queue.push(rank * length + place);
      };
      ids.forEach((_, place) => enqueue(place));
      while (queue.size) {
        const first = queue.pop();
        const place = first % length;
        const rank = (first - place) / length;
        if (rankAt(place) !== rank) continue; // already merged with another neighbour
        const removed = after[place];
        ids[place] = this.#mergedIds[rank];
        ids[removed] = NaN;
        after[place] = after[removed];
        before[after[removed]] = place;
        enqueue(before[place]);
        enqueue(place);
      }
      return ids.filter((id) => !Number.isNaN(id));
    }

    /** Combine two neighbouring ids into one key; NaN at the end of a word. */
    #pair(left, right) {
      return left * this.vocabularySize + right;
    }

    #requireId(id) {
      if (!Number.isInteger(id) || id < 0 || id >= this.vocabularySize) {
        throw new Error(`An id must be a whole number from 0 to ${this.vocabularySize - 1}, got ${id}.`);
      }
    }
  }

  /** A binary min-heap of numbers. */
  class Heap {
    #numbers = [];

    get size() {
      return this.#numbers.length;
    }

    push(number) {
      const numbers = this.#numbers;
      let place = numbers.push(number) - 1;
      for (let above; place && numbers[(above = (place - 1) >> 1)] > number; place = above) {
        numbers[place] = numbers[above];
      }
      numbers[place] = number;
    }

    pop() {
      const numbers = this.#numbers;
      const [smallest] = numbers;
      const last = numbers.pop();
      if (!numbers.length) return smallest;
      let place = 0;
      for (let below = 1; below < numbers.length; below = 2 * place + 1) {
        if (numbers[below + 1] < numbers[below]) below += 1;
        if (numbers[below] >= last) break;
        numbers[place] = numbers[below];
        place = below;
      }
      numbers[place] = last;
      return smallest;
    }
  }

  function normalize(sentence) {
    const text = sentence.normalize("NFC").replace(BLANKS, " ").replace(/^ | $/g, "").replaceAll("’", "'");
    return text.replaceAll("' ", "'  ").replace(CUTS.elision, "' ");
  }

  function splitWords(text) {
    return text === "" ? [] : ` ${text}`.match(CUTS.word);
  }

  /** GPT-2's printable characters for the bytes 0 to 255. */
  function byteCharacters() {
    let others = 0;
    return Array.from({ length: NUM_BYTES }, (_, byte) => {
      const printable = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
      return String.fromCharCode(printable ? byte : NUM_BYTES + others++);
    });
  }

  /** List all pieces in the order of their ids. Two merges may produce the same piece. */
  function listPieces(merges) {
    return [...new Set([...SPECIAL_TOKENS, ...byteCharacters(), ...merges.map((pair) => pair.join(""))])];
  }

  /** Decode bytes as text, and write bytes outside valid characters as hexadecimal escapes. */
  function spell(bytes) {
    let text = "";
    for (let place = 0; place < bytes.length;) {
      const lead = bytes[place];
      const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
      try {
        text += STRICT.decode(bytes.subarray(place, place + length));
        place += length;
      } catch {
        text += `\\x${lead.toString(16).padStart(2, "0")}`;
        place += 1;
      }
    }
    return text;
  }

  /** Return the merges of a `tokenizer.json` after validating the rest of the file. */
  function readMerges(text) {
    let file;
    try {
      file = JSON.parse(text);
    } catch (error) {
      throw new Error(`tokenizer.json must be valid JSON: ${error.message}.`);
    }
    const { vocab, merges, ...model } = file?.model ?? {};
    const sameFormat = JSON.stringify({ ...file, model }) === JSON.stringify(FORMAT);
    if (!sameFormat || !areMerges(merges) || !isVocabularyOf(vocab, merges)) {
      throw new Error("tokenizer.json must be a file written by `Tokenizer.save`.");
    }
    return merges;
  }

  function areMerges(merges) {
    const isPair = (pair) => Array.isArray(pair) && pair.length === 2;
    return Array.isArray(merges) && merges.every(isPair);
  }

  function isVocabularyOf(vocab, merges) {
    const idOf = new Map(Object.entries(vocab ?? {}));
    const pieces = listPieces(merges);
    return (
      idOf.size === pieces.length &&
      pieces.every((piece, id) => idOf.get(piece) === id) &&
      merges.flat().every((piece) => idOf.has(piece))
    );
  }

  Object.assign(glassformer, { Tokenizer, SPECIAL_TOKENS, PAD_ID, START_ID, END_ID });
})((globalThis.glassformer ??= {}));
