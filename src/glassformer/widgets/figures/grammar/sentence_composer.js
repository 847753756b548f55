// The English sentence as a row of choices.
(function (glassformer) {
  /**
   * The sentence with a choice at each word that can be exchanged: `whole`, and what is `chosen`, entries of
   * the lexicon by their role. `first` says what is chosen at the start; `onChange` is called after a change.
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
    const deeds = [true, false].map((negated) => [
      negated ? "not done" : "done",
      verbs.map((verb) => [negated ? `didn’t ${verb.infinitive}` : verb.past, { verb, negated }]),
    ]);
    const qualities = ["animal", "place"].map((kind) => [
      `what ${kind}s can be`,
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
      phrase(picker("deed", deeds)),
      phrase("the", picker("place", ofGender(places, "object"))),
      phrase("because", it, "was", degree, picker("adjective", qualities)),
    );
    return { whole, chosen };

    /** One choice: groups of words, each with what it changes in the sentence, and perhaps another text. */
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
