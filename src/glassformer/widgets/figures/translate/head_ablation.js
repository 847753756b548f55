// Which attentions the translator's page looks at, and which of their heads are off.
(function (glassformer) {
  const page = (glassformer.translatePage ??= {});

  /** The kinds of attention: what their names begin or end with, and which sentence asks which. */
  page.KINDS = {
    "cross-attention": { end: "cross_attention", asks: "french", asked: "english" },
    encoder: { start: "encoder", asks: "english", asked: "english" },
    decoder: { start: "decoder", end: "self_attention", asks: "french", asked: "french" },
  };

  page.allHeads = ({ translator }) =>
    Array.from({ length: translator.model.config.num_heads }, (_, head) => head);
  page.isOff = ({ off }, name, head) => off[name]?.includes(head) ?? false;
  page.isAnyOff = ({ off }) => Object.values(off).some((heads) => heads.length);
  page.areAllOff = (state, kind) =>
    page
      .namesOf(state, kind)
      .every((name) => page.allHeads(state).every((head) => page.isOff(state, name, head)));

  /** The attentions of a kind, one a layer. */
  page.namesOf = ({ translator }, kind) => {
    const { start = "", end = "" } = page.KINDS[kind];
    return translator.model.attentionNames.filter((name) => name.startsWith(start) && name.endsWith(end));
  };

  page.switchHead = (state, name, head, isOn) => {
    const others = (state.off[name] ?? []).filter((each) => each !== head);
    state.off[name] = isOn ? others : [...others, head];
  };
})((globalThis.glassformer ??= {}));
