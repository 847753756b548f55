// Kinds of attention, and which of their heads are ablated.
(function (glassformer) {
  const page = (glassformer.translatePage ??= {});

  /** Kinds of attention: prefix or suffix of their names, and the sides of their queries and keys. */
  page.ATTENTION_KINDS = {
    "cross-attention": { end: "cross_attention", queries: "french", keys: "english" },
    encoder: { start: "encoder", queries: "english", keys: "english" },
    decoder: { start: "decoder", end: "self_attention", queries: "french", keys: "french" },
  };

  page.allHeads = ({ translator }) => [...Array(translator.model.config.num_heads).keys()];
  page.isAblated = ({ ablated }, name, head) => ablated[name]?.includes(head) ?? false;
  page.isAnyAblated = ({ ablated }) => Object.values(ablated).some((heads) => heads.length);
  page.areAllAblated = (state, kind) =>
    page
      .namesOf(state, kind)
      .every((name) => page.allHeads(state).every((head) => page.isAblated(state, name, head)));

  /** List the attention layers of a kind. */
  page.namesOf = ({ translator }, kind) => {
    const { start = "", end = "" } = page.ATTENTION_KINDS[kind];
    return translator.model.attentionNames.filter((name) => name.startsWith(start) && name.endsWith(end));
  };

  page.switchHead = (state, name, head, isOn) => {
    const others = (state.ablated[name] ?? []).filter((each) => each !== head);
    state.ablated[name] = isOn ? others : [...others, head];
  };
})((globalThis.glassformer ??= {}));
