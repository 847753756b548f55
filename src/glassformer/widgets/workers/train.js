// The thread in which the figure "train" computes, so that its page stays free.
const SCRIPTS = [
  "engine/random",
  "engine/positions",
  "engine/scheduling",
  "learning/products",
  "learning/tape",
  "learning/operations",
  "learning/attention",
  "learning/parameters",
  "learning/layers",
  "learning/transformer",
  "learning/optimization",
  "learning/sentences",
  "learning/run",
  "learning/trainer",
];
importScripts(...SCRIPTS.map((name) => `../${name}.js`));

const trainer = new glassformer.Trainer({ report: (content) => postMessage(content), slice: 100 });
onmessage = ({ data }) => trainer.handle(data);
