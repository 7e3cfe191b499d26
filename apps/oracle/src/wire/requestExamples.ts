/**
 * Schema metadata with the documented body of a route. It is not under `examples`, because those of a schema that
 * transforms its input are lost on the way to the interface document.
 */
export const publishedExample = (value: object) => ({ 'x-examples': { published: { value } } })

/**
 * Example bodies in the interface document. Their order is order B of packages/core/test/vectors/orders.ts,
 * for which `depositTransaction` pays.
 */
const native = '0x0000000000000000000000000000000000000000'
const depositTransaction = `0x${'aa'.repeat(32)}`

const order = {
  version: 'v1',
  solverChainId: 'base',
  solver: '0x2e988a386a799f506693793c6a5af6b54dfaabfb',
  salt: '1',
  inputs: [
    {
      payment: { chainId: 'ethereum', currency: native, amount: '1000000000000000000', weight: '1' },
      refunds: [
        {
          chainId: 'ethereum',
          recipient: `0x${'11'.repeat(20)}`,
          currency: native,
          minimumAmount: '990000000000000000',
          deadline: 2_000_000_000,
          extraData: '0x',
        },
      ],
    },
  ],
  output: {
    chainId: 'base',
    payments: [
      {
        recipient: `0x${'22'.repeat(20)}`,
        currency: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
        minimumAmount: '3000000000',
        expectedAmount: '3010000000',
      },
    ],
    calls: [],
    deadline: 2_000_000_000,
    extraData: `0x${'00'.repeat(12)}${'33'.repeat(20)}`,
  },
  fees: [
    {
      recipientChainId: 'base',
      recipient: `0x${'44'.repeat(20)}`,
      currencyChainId: 'ethereum',
      currency: native,
      amount: '1000000000000000',
    },
  ],
}

/** Onchain id of the deposit. */
const onchainId = '0xd16f7f4f46f9cf8c7e42b371e81a4867d79e7a3572db9949b95a50babcf3137c'

const settlement = {
  order,
  orderSignature:
    '0x798fbd518f9e4aad2866ae0b5c2ae51a5c8aeb145ee960cb37eeb7c25eed28fc69a3efb8ed3cce6755b7544ad4a9e62ca8b534368092fd1d3a28095771cf90b41b',
  inputs: [
    {
      transactionId: depositTransaction,
      onchainId,
      inputIndex: 0,
    },
  ],
}

export const depositsExample = {
  chainId: 'ethereum',
  transactionId: depositTransaction,
  requestPeerSignatures: true,
}

export const withdrawalsExample = {
  chainId: 'ethereum',
  // One call of 1,000 wei to 0x22…22, nonce 5, expiring at 1,800,000,000.
  withdrawal:
    '0x000000000000000000000000000000000000000000000000000000000000002000000000000000000000000000000000000000000000000000000000000000600000000000000000000000000000000000000000000000000000000000000005000000000000000000000000000000000000000000000000000000006b49d200000000000000000000000000000000000000000000000000000000000000000100000000000000000000000000000000000000000000000000000000000000200000000000000000000000002222222222222222222222222222222222222222000000000000000000000000000000000000000000000000000000000000008000000000000000000000000000000000000000000000000000000000000003e800000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000',
  transactionId: `0x${'bb'.repeat(32)}`,
  withdrawalAddressRequest: {
    chainId: 'ethereum',
    currency: native,
    withdrawer: `0x${'99'.repeat(20)}`,
    withdrawerChainId: 'base',
    recipient: `0x${'22'.repeat(20)}`,
    withdrawalNonce: '42',
  },
}

export const fillsExample = { ...settlement, fill: { transactionId: `0x${'cc'.repeat(32)}` } }

export const refundsExample = {
  ...settlement,
  refunds: [{ transactionId: `0x${'dd'.repeat(32)}`, inputIndex: 0, refundIndex: 0 }],
}

export const withdrawalFlowExample = {
  chainId: 'solana',
  currency: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  amount: '1000000',
  ownerChainId: 'ethereum',
  owner: '0x2e988a386a799f506693793c6a5af6b54dfaabfb',
  ownerSignature:
    '0x2af8200be8b2f382514a1e899f07826decefd412b12800eac32db6c31ffa712c5c9e38ae962082d04d3a71e22e6e4eefd12c6eea4d38fde24065143d8dfb31061b',
  recipient: '7EaP2zkxDLo86x4rnNwwLhB593PsbMva41dqfrfxhsb1',
  nonce: '42',
}

export const requestedWithdrawalsExample = {
  ...withdrawalFlowExample,
  transactionId: '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW',
}

/** The deposit of order B, which nobody filled. */
export const recoveryExample = {
  chainId: 'ethereum',
  transactionId: depositTransaction,
  onchainId,
  order,
  orderSignature: settlement.orderSignature,
}

/** The wallet is the address of the oracle key in packages/core/test/vectors/messages.ts. */
export const nonceMappingExample = {
  walletChainId: 'hyperliquid',
  wallet: '0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a',
  nonce: '1761563890702',
  id: '0x3066f8a2439e215c99a81077465f375dd7cbf90eb2d7c24b91e2bf1be7b595a4',
  depositor: '0x2222222222222222222222222222222222222222',
  signatureChainId: 'base',
  signature:
    '0x73c38a248a89b82a830ba15088f328bbefbb3c4bc6472a5ea562eeb5f7f8abf976a3529fe3136867ec3d71db225f713f32f470824419eb1d2515a305b62e10321c',
}

export const noFillOrRefundExample = {
  solverChainId: 'base',
  solver: order.solver,
  orderId: '0x3066f8a2439e215c99a81077465f375dd7cbf90eb2d7c24b91e2bf1be7b595a4',
  signature:
    '0xe6bb3974e0a5ba45f47cf60dfcb306b4adc64db7fecbee8605e56f28f11af02e572f95797112d6204bd56ce817b752368425b09091e2ab8029a4eea02a6d20301c',
}
