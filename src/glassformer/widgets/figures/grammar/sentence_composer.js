// The English sentence with exchangeable words.
(function (glassformer) {
  /**
   * Make the sentence with a drop-down list for each exchangeable word. Returns the element `whole` and the `chosen`
   * entries of the lexicon by role. `first` holds the initial choices; `onChange` is called after a change.
   */
  glassformer.sentenceComposer = function ({ animals, places, verbs, adjectives }, first, onChange) {
    const { element } = glassformer;
    const chosen = {
      subject: animals.find(({ english }) => english === first.subject.english),
      verb: verbs.find(({ past }) => past === first.verb.past),
      negated: first.negated,
      object: places.find(({ english }) => english === first.object.english),
      adjective: adjectives.find(({ english }) => english === first.adjective.english),
    };
    const ofGender = (nouns, role) =>
      ["masculine", "feminine"].map((gender) => [
        `${gender} in French`,
        nouns
          .filter((noun) => noun.gender === gender)
          .map((noun) => [noun.english, { [role]: noun }, `${noun.english} (${gender[0]}.)`]),
      ]);
    const verbForms = [true, false].map((negated) => [
      negated ? "negated" : "affirmative",
      verbs.map((verb) => [negated ? `didn’t ${verb.infinitive}` : verb.past, { verb, negated }]),
    ]);
    const qualities = ["animal", "place"].map((kind) => [
      `adjectives for ${kind === "animal" ? "animals" : "places"}`,
      adjectives
        .filter(({ describes }) => describes === kind)
        .map((adjective) => [adjective.english, { adjective }]),
    ]);
    const it = element("span", { class: "it" }, "it");
    const degree = element("span", {}, glassformer.degreeOf(chosen));
    const phrase = (...parts) => element("span", { class: "phrase" }, ...parts);
    const whole = element(
      "div",
      { class: "sentence", role: "group", "aria-label": "English sentence" },
      phrase("the", picker("animal", ofGender(animals, "subject"))),
      phrase(picker("verb", verbForms)),
      phrase("the", picker("place", ofGender(places, "object"))),
      phrase("because", it, "was", degree, picker("adjective", qualities)),
    );
    return { whole, chosen };

    /** Make a drop-down list from groups of words, each with its change to the sentence and an optional label. */
    function picker(label, groups) {
      const changes = groups.flatMap(([, members]) => members.map(([, change]) => change));
      const select = element(
        "select",
        { "aria-label": label },
        ...groups.map(([name, members]) =>
          element(
            "optgroup",
            { label: name },
            ...members.map(([value, , text = value]) => element("option", { value }, text)),
          ),
        ),
      );
      select.selectedIndex = changes.findIndex((change) =>
        Object.entries(change).every(([role, value]) => chosen[role] === value),
      );
      select.addEventListener("input", () => {
        Object.assign(chosen, changes[select.selectedIndex]);
        degree.textContent = glassformer.degreeOf(chosen);
        onChange();
      });
      return select;
    }
  };
})((globalThis.glassformer ??= {}));
