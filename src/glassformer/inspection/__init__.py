"""Look inside a model from outside: attention weights, activations, interventions and attributions."""

from glassformer.inspection.activations import find_sites, logit_lens, patch_activations, record_activations
from glassformer.inspection.attribution import gradient_times_input, input_gradients, occlusion
from glassformer.inspection.heads import (
    ablate_heads,
    find_attention_layers,
    head_importance,
    record_attention,
)
