// English sentences about animals and what they do to each other, and their French translations by rule.
//
// The words are those of `tasks/lexicon.py`. Only the order of the words tells who acts on whom, and which animal an
// adjective describes.
(function (glassformer) {
  // English and French; "h" marks the aspirated h, before which "le" is not elided
  const ANIMALS = `animal animal m,dog chien m,cat chat m,horse cheval m,donkey âne m,squirrel écureuil m,
    bird oiseau m,owl hibou mh,rabbit lapin m,fox renard m,mouse souris f,cow vache f,goat chèvre f,
    frog grenouille f,turtle tortue f,bee abeille f,spider araignée f,swallow hirondelle f,ant fourmi f,hen poule f`;
  const ADJECTIVES = `tired fatigué fatiguée,hungry affamé affamée,lazy paresseux paresseuse,
    curious curieux curieuse,worried inquiet inquiète,proud fier fière,shy timide timide,clumsy maladroit maladroite`;
  const VERBS = "reach reached atteint,leave left quitté,avoid avoided évité,choose chose choisi";

  const EXAMPLE = "the hungry fox avoided the tired hen"; // held out
  const NUM_SPECIAL_TOKENS = 3; // padding, start and end, as in `data/vocabulary.py`

  const entries = (text) => text.split(",").map((entry) => entry.trim().split(" "));
  const animals = new Map(
    entries(ANIMALS).map(([english, french, marks]) => {
      const elides = /^[aâeéèêhiîoôuy]/.test(french) && !marks.includes("h");
      const gender = marks[0];
      return [english, { french, gender, article: elides ? "l'" : gender === "f" ? "la" : "le" }];
    }),
  );
  const adjectives = new Map(entries(ADJECTIVES).map(([english, m, f]) => [english, { m, f }]));
  const participles = new Map(
    entries(VERBS).flatMap(([infinitive, past, participle]) => [
      [infinitive, participle],
      [past, participle],
    ]),
  );
  const infinitives = entries(VERBS).map(([infinitive]) => infinitive);

  const english = ["the", "and", "didn't", ...participles.keys(), ...animals.keys(), ...adjectives.keys()];
  const french = [
    ...new Set([
      ...["le", "la", "l'", "et", "n'", "a", "ont", "pas", ...participles.values()],
      ...[...animals.values()].map((animal) => animal.french),
      ...[...adjectives.values()].flatMap(({ m, f }) => [m, f]),
    ]),
  ];

  // ---- Sampling ----

  const pick = (random, list) => list[Math.floor(random() * list.length)];

  function samplePhrase(random) {
    const adjective = random() < 0.6 ? [pick(random, [...adjectives.keys()])] : [];
    return ["the", ...adjective, pick(random, [...animals.keys()])];
  }

  /** One animal or, in a quarter of the cases, two. */
  function samplePhrases(random) {
    return random() < 0.25 ? [...samplePhrase(random), "and", ...samplePhrase(random)] : samplePhrase(random);
  }

  /** Sample the words of a sentence whose animals are held out for testing, or of one for training. */
  function sampleSentence(random, { heldOut }) {
    for (;;) {
      const [infinitive, past] = pick(random, entries(VERBS));
      const verb = random() < 0.5 ? [past] : ["didn't", infinitive];
      const words = [...samplePhrases(random), ...verb, ...samplePhrases(random)];
      if (isHeldOut(words) === heldOut) return words;
    }
  }

  /** One sequence of animals in ten is held out: a number computed from their names decides. */
  function isHeldOut(words) {
    let hash = 7;
    for (const character of words.filter((word) => animals.has(word)).join(" ")) {
      hash = Math.imul(hash ^ character.codePointAt(0), 0x01000193);
    }
    return (hash >>> 8) % 10 === 2;
  }

  // ---- Translation ----

  /**
   * Translate the words of a sentence by rule. Returns French words, each with `from`: the position of the animal,
   * adjective or verb that it translates, or null.
   */
  function translate(words) {
    const translated = [];
    const write = (word, from = null) => translated.push({ word, from });
    let waiting = null; // position of an adjective, which French writes after the noun
    words.forEach((word, position) => {
      if (adjectives.has(word)) waiting = position;
      if (word === "and") write("et");
      if (participles.has(word)) {
        const negated = words[position - 1] === "didn't";
        if (negated) write("n'");
        write(words.slice(0, position).includes("and") ? "ont" : "a");
        if (negated) write("pas");
        write(participles.get(word), position);
      }
      if (!animals.has(word)) return;
      const animal = animals.get(word);
      write(animal.article);
      write(animal.french, position);
      if (waiting !== null) write(adjectives.get(words[waiting])[animal.gender], waiting);
      waiting = null;
    });
    return translated;
  }

  const isSentence = (words) => /^ta?n(&ta?n)?(p|di)ta?n(&ta?n)?$/.test(words.map(kindOf).join(""));

  function kindOf(word) {
    const kinds = { the: "t", and: "&", "didn't": "d" };
    if (adjectives.has(word)) return "a";
    if (animals.has(word)) return "n";
    if (participles.has(word)) return infinitives.includes(word) ? "i" : "p";
    return kinds[word] ?? "?";
  }

  // ---- Ids ----

  const idsOf = (vocabulary) => new Map(vocabulary.map((word, place) => [word, place + NUM_SPECIAL_TOKENS]));
  const [englishIds, frenchIds] = [idsOf(english), idsOf(french)];

  /** Split a text into words. Throws an Error that names the words that are not in the vocabulary. */
  function readSentence(text) {
    const words = text.toLowerCase().replaceAll("’", "'").replace(/[.!?]/g, "").trim().split(/\s+/);
    const unknown = words.filter((word) => !englishIds.has(word));
    if (unknown.length) throw new Error(`It doesn’t know ${unknown.map((word) => `“${word}”`).join(", ")}.`);
    return words;
  }

  /** The source ids of a sentence, and those of its translation by rule, without special tokens. */
  function toIds(words) {
    const source = words.map((word) => englishIds.get(word));
    return { source, target: translate(words).map(({ word }) => frenchIds.get(word)) };
  }

  /** The French words of ids; special tokens become "·". */
  const toFrench = (ids) => ids.map((id) => french[id - NUM_SPECIAL_TOKENS] ?? "·");

  glassformer.sentences = {
    START_ID: 1,
    END_ID: 2,
    NUM_SPECIAL_TOKENS,
    EXAMPLE,
    english,
    french,
    sampleSentence,
    isHeldOut,
    isSentence,
    translate,
    readSentence,
    toIds,
    toFrench,
  };
})((globalThis.glassformer ??= {}));
