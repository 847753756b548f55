// Sentences to ids and back, exactly as `data/tokenizer.py` does it: see there for why words are cut so.
(function (glassformer) {
  const MARKS = ["<pad>", "<start>", "<end>"];
  const [PAD_ID, START_ID, END_ID] = MARKS.keys();
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

  // What JavaScript calls white space is not quite what Unicode calls so.
  const BLANKS = /\p{White_Space}+/gu;
  const CUTS = {
    elision: new RegExp(ELISION, "gu"),
    // All white space is plain spaces by then; one before a second one is a piece by itself.
    word: new RegExp(`${WORDS.replace(String.raw`\s`, " ")}| `, "gu"),
  };

  // All that `Tokenizer.save` writes, but for what was learnt.
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

  /** Cuts sentences into pieces of words by byte pair encoding. */
  class Tokenizer {
    #bytesOf;
    #rankOf = new Map();
    #joined;

    /** Take the text of a `tokenizer.json`; any that `Tokenizer.save` did not write is refused. */
    constructor(text) {
      const merges = readMerges(text);
      const pieces = listPieces(merges);
      const idOf = new Map(pieces.map((piece, id) => [piece, id]));
      const byteOf = new Map(byteCharacters().map((character, byte) => [character, byte]));
      this.#bytesOf = pieces.map((piece, id) =>
        id < MARKS.length ? new Uint8Array() : Uint8Array.from(piece, (character) => byteOf.get(character)),
      );
      merges.forEach(([left, right], rank) =>
        this.#rankOf.set(this.#pair(idOf.get(left), idOf.get(right)), rank),
      );
      this.#joined = merges.map((pair) => idOf.get(pair.join("")));
    }

    /** How many ids there are: the marks, the bytes and the pieces. */
    get vocabularySize() {
      return this.#bytesOf.length;
    }

    /** The ids of a sentence, without marks; an empty or blank one has none. */
    encode(sentence) {
      if (typeof sentence !== "string") throw new Error(`A sentence must be text, got ${typeof sentence}.`);
      if (/\p{Surrogate}/u.test(sentence)) throw new Error("A sentence must not hold half a character.");
      const words = cutWords(makePlain(sentence));
      return words.flatMap((word) =>
        this.#join(Array.from(UTF8.encode(word), (byte) => MARKS.length + byte)),
      );
    }

    /** The sentence of ids, without marks, and nothing after the first end. Stray bytes become "�". */
    decode(ids) {
      ids.forEach((id) => this.#requireId(id));
      const kept = ids.includes(END_ID) ? ids.slice(0, ids.indexOf(END_ID)) : ids;
      const bytes = kept.flatMap((id) => [...this.#bytesOf[id]]);
      return LENIENT.decode(Uint8Array.from(bytes)).replace(/^ /, "").replaceAll("' ", "'");
    }

    /** How an id is shown: a mark by its name, "▁" for a space, "\xf0" for a stray byte. */
    piece(id) {
      this.#requireId(id);
      return MARKS[id] ?? spell(this.#bytesOf[id]).replaceAll(" ", "▁");
    }

    /** Join neighbours by the merge that was learnt first, the leftmost ones first, while there is one. */
    #join(ids) {
      const { length } = ids;
      const before = ids.map((_, place) => place - 1);
      const after = ids.map((_, place) => place + 1);
      const rankAt = (place) => this.#rankOf.get(this.#pair(ids[place], ids[after[place]]));
      const waiting = new Heap();
      const consider = (place) => {
        const rank = rankAt(place);
        if (rank !== undefined) waiting.push(rank * length + place);
      };
      ids.forEach((_, place) => consider(place));
      while (waiting.size) {
        const first = waiting.pop();
        const place = first % length;
        const rank = (first - place) / length;
        if (rankAt(place) !== rank) continue; // a neighbour was faster
        const gone = after[place];
        ids[place] = this.#joined[rank];
        ids[gone] = NaN;
        after[place] = after[gone];
        before[after[gone]] = place;
        consider(before[place]);
        consider(place);
      }
      return ids.filter((id) => !Number.isNaN(id));
    }

    /** One number for two neighbours; NaN at the end of a word. */
    #pair(left, right) {
      return left * this.vocabularySize + right;
    }

    #requireId(id) {
      if (!Number.isInteger(id) || id < 0 || id >= this.vocabularySize) {
        throw new Error(`An id must be a whole number from 0 to ${this.vocabularySize - 1}, got ${id}.`);
      }
    }
  }

  /** Numbers that come out smallest first: none is below that at half its place. */
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

  function makePlain(sentence) {
    const plain = sentence.normalize("NFC").replace(BLANKS, " ").replace(/^ | $/g, "").replaceAll("’", "'");
    return plain.replaceAll("' ", "'  ").replace(CUTS.elision, "' ");
  }

  function cutWords(plain) {
    return plain === "" ? [] : ` ${plain}`.match(CUTS.word);
  }

  /** The characters that stand for the bytes 0 to 255 in the file (those of GPT-2). */
  function byteCharacters() {
    let others = 0;
    return Array.from({ length: NUM_BYTES }, (_, byte) => {
      const printable = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
      return String.fromCharCode(printable ? byte : NUM_BYTES + others++);
    });
  }

  /** All pieces in the order of their ids. Two merges may make the same one. */
  function listPieces(merges) {
    return [...new Set([...MARKS, ...byteCharacters(), ...merges.map((pair) => pair.join(""))])];
  }

  /** Bytes as text, each that belongs to no character by its number. */
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

  /** The merges in a `tokenizer.json`, once all else in it is known to be as `Tokenizer.save` writes it. */
  function readMerges(text) {
    let file;
    try {
      file = JSON.parse(text);
    } catch (error) {
      throw new Error(`tokenizer.json must hold a tokenizer, but is damaged: ${error.message}.`);
    }
    const { vocab, merges, ...model } = file?.model ?? {};
    const sameFormat = JSON.stringify({ ...file, model }) === JSON.stringify(FORMAT);
    if (!sameFormat || !areMerges(merges) || !isVocabularyOf(vocab, merges)) {
      throw new Error("tokenizer.json must be one that `Tokenizer.save` wrote, got one of another kind.");
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

  Object.assign(glassformer, { Tokenizer, MARKS, PAD_ID, START_ID, END_ID });
})((globalThis.glassformer ??= {}));
