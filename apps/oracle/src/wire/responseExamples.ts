import type { AttestationKindName } from '@causeway/attestations'
import { fillsExample, refundsExample, withdrawalsExample } from './requestExamples.ts'

/** Address of the oracle key in packages/core/test/vectors/messages.ts. */
const oracleSigner = '0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a'
/** Contracts of the examples' hub: for executions, for entries of the generic mapping. */
const oracleDomain = {
  oracleChainId: '537713',
  oracleContract: '0x795f9464ee05a34fe1e18925ca4e4753dcd60058',
}
const mappingDomain = {
  genericMappingChainId: '537713',
  genericMappingContract: '0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb',
}

const signedMessage = (signature: string) => [{ oracleSigner, signature }]
const signedExecution = (signature: string) => [{ ...oracleDomain, oracleSigner, signature }]
const signedEntry = (signature: string) => [{ ...mappingDomain, oracleSigner, signature }]

const initiation = {
  withdrawalAddress: '0x6ebab9da5e0fc28373915bb43de6d6539333ac31',
  execution: {
    idempotencyKey: '0x6e40423d69b6904e552b018a6f8103feb3e581841228876e3e7ce5fddc269aec',
    actions: [
      '0x0000000000000000000000000000000000000000000000000000000000000002000000000000000000000000a6e631c7649bfc86ccfa10c2fec08a64a3a8c1220000000000000000000000006ebab9da5e0fc28373915bb43de6d6539333ac31a09361e65480ee9ecad8863fdceef346cb004c0cb4ee7f28d7e282e2d9aa7e4000000000000000000000000000000000000000000000000000000000000f4240',
    ],
    signatures: signedExecution(
      '0x47c76ce5171d20f58e8c6745c494c744c7c631b309ca25255fd2cde5c0c7001676bbf983c82d5645db2ac298d1bc954c1b8e0bc92c4fda9bb26fdd1488206a591b',
    ),
  },
} as const

const initiated = {
  payloadParams: {
    chainId: '50',
    depository: '99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2',
    currency: 'c6fa7af3bedbad3a3d65f36aabc97431b1bbe4c2d2f6e0e47ca60203452f5d61',
    amount: '1000000',
    spender: '0xa6e631c7649bfc86ccfa10c2fec08a64a3a8c122',
    recipient: '5ca06a33d6036ec8bc1c7431dc53b8ebf26313227c7642fa4704c07d4567746c',
    nonce: '0x000000000000000000000000000000000000000000000000000000000000002a',
    data: '0x',
    signatures: [
      {
        allocatorSpenderChainId: '1313161554',
        allocatorSpenderContract: '0x797e3e92dc5b16816eca3ecbe51a1c494e477c70',
        oracleSigner,
        signature:
          '0xa34733e0c207b2af4c1563b75441735ba0c704a196687467bfac47f3797b72cd07ae7edba7c5b47d4a03d6b634460984fa18189d36761c51ae5792e6ef67630b1b',
      },
    ],
  },
} as const

/**
 * Example answers in the interface document, to the requests of requestExamples.ts, signed by the oracle key
 * of packages/core/test/vectors/messages.ts.
 */
export const responseExamples = {
  deposits: {
    messages: [
      {
        data: {
          chainId: 'ethereum',
          transactionId: '0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
        },
        result: {
          onchainId: '0xd16f7f4f46f9cf8c7e42b371e81a4867d79e7a3572db9949b95a50babcf3137c',
          depository: '0x4cd00e387622c35bddb9b4c962c136462338bc31',
          depositId: '0x3066f8a2439e215c99a81077465f375dd7cbf90eb2d7c24b91e2bf1be7b595a4',
          depositor: '0x1111111111111111111111111111111111111111',
          currency: '0x0000000000000000000000000000000000000000',
          amount: '1000000000000000000',
        },
        extraData: {
          timestamp: '1700000000',
        },
        signatures: signedMessage(
          '0x2e639563ee00d7284978658449a3be56e95ab1622347b2ea19f959eddd6452463d957f72ecbd75a4b212ba6912050711eff0fb86650cd2806bc307df3e877c3b1c',
        ),
      },
    ],
    execution: {
      idempotencyKey: '0x92f8ee69568e8b3d16a91449326ae6ff4b1f1cd5d4993b05dcd562b9b8d1b74d',
      actions: [
        '0x000000000000000000000000000000000000000000000000000000000000000000000000000000000000000048dd97456ea2aed0520f5386f4146f867c61e565a7834a7b349a34e2a18eb597251edf52aba8e3aea24d7021dc1c76cc7a857ab70000000000000000000000000000000000000000000000000de0b6b3a7640000',
      ],
      metadata: [
        {
          hubTokenId: '75768216729734233842356022798368373679005098618301361336704166989654078618295',
          origin: {
            address: '0x0000000000000000000000000000000000000000',
            chainId: 'ethereum',
            family: 'ethereum-vm',
          },
          oracleChainId: '537713',
          oracleContract: '0x795f9464ee05a34fe1e18925ca4e4753dcd60058',
        },
      ],
      signatures: signedExecution(
        '0xb040c92bb3ee60df2323f77c484268e3d07bea489c6e9cdee0a0281f9a631b6462b695604c8a6cc381a82a3d282369de1d17460edc4fae314cc5e713659fa8c41b',
      ),
    },
  },
  withdrawals: {
    message: {
      data: {
        chainId: 'ethereum',
        withdrawal: withdrawalsExample.withdrawal,
        withdrawalAddressRequest: withdrawalsExample.withdrawalAddressRequest,
      },
      result: {
        withdrawalId: '0x42600e31bfa4e2d638f483dd2b087d53328733fceb578fac6db1928b6ce95fcc',
        depository: '0x4cd00e387622c35bddb9b4c962c136462338bc31',
        status: 1,
      },
      signatures: signedMessage(
        '0x01f955f6df6a2c0e57701dbe46cb4a9690b67b1ea67f7dd1268355d951bbd37f01ae3eb129c7b05ec48eb2718f84386600b3d6c121081d72428c1308169e921d1c',
      ),
    },
    execution: {
      idempotencyKey: '0x55513c5c5b37dd741d77544f1f8c14778db41c000ca65522853546dfe1122188',
      actions: [
        '0x0000000000000000000000000000000000000000000000000000000000000001000000000000000000000000952b15b86598ab243d1ec7cf5af40d8066a4afe2a7834a7b349a34e2a18eb597251edf52aba8e3aea24d7021dc1c76cc7a857ab700000000000000000000000000000000000000000000000000000000000003e8',
      ],
      signatures: signedExecution(
        '0x85392b2bdac9370479b7170f5a2156a60556aebe7e2b6cae6f67b1c1575f45ff3198fd65d21ad1a3cad0c1ce6ab505ed8501750b127d91992d3a996c7438d2631c',
      ),
    },
  },
  fills: {
    message: {
      data: {
        order: fillsExample.order,
        orderSignature: fillsExample.orderSignature,
        inputs: fillsExample.inputs,
        fill: fillsExample.fill,
      },
      result: {
        orderId: '0x3066f8a2439e215c99a81077465f375dd7cbf90eb2d7c24b91e2bf1be7b595a4',
        status: 1,
        totalWeightedInputPaymentBpsDiff: '0',
      },
      signatures: signedMessage(
        '0xa4c9e0383475f76a158ef0a8c49121dcc25fd13c9da2bbdff58f19b600707aa3555fd7ced422621bf134384c02d9e3d65c8bda578a72378ee9f5718327180fdb1b',
      ),
    },
    execution: {
      idempotencyKey: '0xa2f3d1e522b0847b01d7e9a614ae5f780247b6f0a4371162eaf4e4fd7c0b1903',
      actions: [
        '0x000000000000000000000000000000000000000000000000000000000000000200000000000000000000000048dd97456ea2aed0520f5386f4146f867c61e56500000000000000000000000037af10adbc4864042698b5735132a3c8c2b146bfa7834a7b349a34e2a18eb597251edf52aba8e3aea24d7021dc1c76cc7a857ab70000000000000000000000000000000000000000000000000de0b6b3a7640000',
        '0x000000000000000000000000000000000000000000000000000000000000000200000000000000000000000037af10adbc4864042698b5735132a3c8c2b146bf0000000000000000000000002c12d14316d555abf9eb1f0ce64444855341a002a7834a7b349a34e2a18eb597251edf52aba8e3aea24d7021dc1c76cc7a857ab700000000000000000000000000000000000000000000000000038d7ea4c68000',
      ],
      signatures: signedExecution(
        '0x2a3f855baeb34695af4623fc5395e368cf62bbe76c64d67b72a1db3c6b3455366dca500239a9a385e098099b46da4aba9ebb005c680f9d17b0d4f4352d7b96d81b',
      ),
    },
  },
  refunds: {
    message: {
      data: {
        order: refundsExample.order,
        orderSignature: refundsExample.orderSignature,
        inputs: refundsExample.inputs,
        refunds: refundsExample.refunds,
      },
      result: {
        orderId: '0x3066f8a2439e215c99a81077465f375dd7cbf90eb2d7c24b91e2bf1be7b595a4',
        status: 1,
        totalWeightedInputPaymentBpsDiff: '0',
      },
      signatures: signedMessage(
        '0xbe99e727c029c86036d7102391de40ed4b7bbbc9062a89180a937f032200b4e35f2522e46f9073e08d1a6c2c362af5c299d619151ca75d159f9a68ea180cc19c1b',
      ),
    },
    execution: {
      idempotencyKey: '0xa2f3d1e522b0847b01d7e9a614ae5f780247b6f0a4371162eaf4e4fd7c0b1903',
      actions: [
        '0x000000000000000000000000000000000000000000000000000000000000000200000000000000000000000048dd97456ea2aed0520f5386f4146f867c61e56500000000000000000000000037af10adbc4864042698b5735132a3c8c2b146bfa7834a7b349a34e2a18eb597251edf52aba8e3aea24d7021dc1c76cc7a857ab70000000000000000000000000000000000000000000000000de0b6b3a7640000',
      ],
      signatures: signedExecution(
        '0x4823069251ea82c630ce08ad57d8b6d36979d0c21f09fdcb03c570d5d3246aed7075285942692469511487f4eee51896e463b6937566c6b3a7a09207bb2c8ac51c',
      ),
    },
  },
  'withdrawal-initiation': initiation,
  'withdrawal-initiated': initiated,
  'withdrawals-v2': {
    status: 1,
    execution: {
      idempotencyKey: '0x0577805a07d72d4ee6c2dd01a68d96f3ff71dfb4625dadaf45b79eede4538f75',
      actions: [
        '0x00000000000000000000000000000000000000000000000000000000000000010000000000000000000000006ebab9da5e0fc28373915bb43de6d6539333ac31a09361e65480ee9ecad8863fdceef346cb004c0cb4ee7f28d7e282e2d9aa7e4000000000000000000000000000000000000000000000000000000000000f4240',
      ],
      signatures: signedExecution(
        '0x5a060196e0b8041bea570d4bb86063f8610e675d9bc9093058e4f6d17eff59f052ebea927479d7a6d4911675eb7b5795beea7eff7d0fcdb657a745e1d94999a61c',
      ),
    },
  },
  'withdrawal-initiation-v2': initiation,
  'withdrawal-initiated-v2': initiated,
  recovery: {
    execution: {
      idempotencyKey: '0x1fc799e73956f4cdd10f83ad6b7b1babf9a40adab02f412f1f6da60a05d96e10',
      actions: [
        '0x000000000000000000000000000000000000000000000000000000000000000200000000000000000000000048dd97456ea2aed0520f5386f4146f867c61e565000000000000000000000000655a50c47473d8fd8f2a129996f0062c287ac97da7834a7b349a34e2a18eb597251edf52aba8e3aea24d7021dc1c76cc7a857ab70000000000000000000000000000000000000000000000000de0b6b3a7640000',
      ],
      signatures: signedExecution(
        '0x9069352191b278eb285e467d84e547f7df4a70a732cf0f3909fcc77b3734507d45c924092f3db42851dcae425572bc6e4e8925213a2c0bf5d6ee5f53d879c3461b',
      ),
    },
  },
  'nonce-mapping': {
    genericMapping: {
      user: '0x3cb94b0d5214c41de8e3b674d73ab430a039a5d4',
      id: '0x44ec8783eee06c285b5fb4d7d8f3c2e92e60213d81f4be35610a86532b71d222',
      data: '0x3066f8a2439e215c99a81077465f375dd7cbf90eb2d7c24b91e2bf1be7b595a42222222222222222222222222222222222222222',
      nonce: '0x53f6c4e6be01df994f4116823da7e3d79216e0ea94db7414284a7a98c8290bd7',
      signatures: signedEntry(
        '0x903f33e2096be1f8c17d018afde2b379a1ab63941430978bda103e089291d65e641a915185339810ab973df6da19caecfda01c111458b07f9c71c69015fb483c1c',
      ),
    },
  },
  'no-fill-or-refund': {
    genericMapping: {
      user: '0x37af10adbc4864042698b5735132a3c8c2b146bf',
      id: '0xdd0970e29b4680229a8d3ba6d9d937f78751b498f4bc20358a8b4087672164c0',
      data: '0x01',
      nonce: '0xe4dddd8882c133ceb8ddb4fb6c5beb6e908560407a5daa7557cb31d6e14754f6',
      signatures: signedEntry(
        '0x87356c8816ee3e8a5a6528a568a463f96625095353193122c67fd86128ecb051763047bfb057e83fc74cfb3c45271d3e0b139a6b05cebdeb184eef72473bf0261b',
      ),
    },
  },
} as const satisfies Record<AttestationKindName, object>
