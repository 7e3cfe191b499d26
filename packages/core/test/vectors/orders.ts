import type { NetworkOf } from '../../src/chain/protocolChain.ts'
import type { VmType } from '../../src/encodings/codecs.ts'
import { mainNetwork } from '../../src/encodings/codecs.ts'
import type { Hex } from '../../src/hex.ts'
import type { Order } from '../../src/order/order.ts'

const evmNative = '0x0000000000000000000000000000000000000000'
export const bitcoinNative = 'bc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmql8k8'
export const tronNative = 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb'
export const solanaUsdc = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
export const solanaOwner = '7EaP2zkxDLo86x4rnNwwLhB593PsbMva41dqfrfxhsb1'
export const solanaDepository = '99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2'
export const baseUsdc = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'

/** `byte` repeated, as the protocol's vectors abbreviate it. */
export function repeated(byte: string, count: number): Hex {
  return `0x${byte.repeat(count)}`
}

const vmTypes = new Map<string, VmType>([
  ['ethereum', 'ethereum-vm'],
  ['base', 'ethereum-vm'],
  ['local-a', 'ethereum-vm'],
  ['local-b', 'ethereum-vm'],
  ['solana', 'solana-vm'],
  ['bitcoin', 'bitcoin-vm'],
  ['hyperliquid', 'hyperliquid-vm'],
  ['lighter', 'lighter-vm'],
  ['tron', 'tron-vm'],
])
export const networkOf: NetworkOf = (chainId) => {
  const vmType = vmTypes.get(chainId)
  return vmType && mainNetwork(vmType)
}

/** @source github.com/relayprotocol/relay-settlement, packages/sdk/test/order.test.ts */
export const orderA: Order = {
  version: 'v1',
  solverChainId: 'base',
  solver: '0xfd073a9ccb34f8a13c466eb16dff990d6178a5ef',
  salt: '0x0ef19e8ac216cebd161d73425c0b1e1ae12f5a4d56fc54cddb4f9755c5e7b1b8',
  inputs: [
    {
      payment: { chainId: 'base', currency: evmNative, amount: '100000000000000', weight: '1' },
      refunds: [
        {
          chainId: 'base',
          recipient: '0x8B5E4dB198FfC7f69f8F11F6592f682717dF1D92',
          currency: evmNative,
          minimumAmount: '0',
          deadline: 1774878936,
          extraData: '0x000000000000000000000000b92fe925dc43a0ecde6c8b1a2709c170ec4fff4f',
        },
        {
          chainId: 'solana',
          recipient: solanaOwner,
          currency: solanaUsdc,
          minimumAmount: '0',
          deadline: 1774878936,
          extraData: '0x',
        },
      ],
    },
  ],
  output: {
    chainId: 'solana',
    payments: [
      { recipient: solanaOwner, currency: solanaUsdc, minimumAmount: '187151', expectedAmount: '196567' },
    ],
    calls: [],
    deadline: 1774878936,
    extraData: '0x',
  },
  fees: [],
}

/** An order with one input and one fee. Its id and signature were computed with viem. */
export const orderB: Order = {
  version: 'v1',
  solverChainId: 'base',
  solver: '0x2e988a386a799f506693793c6a5af6b54dfaabfb',
  salt: '1',
  inputs: [
    {
      payment: { chainId: 'ethereum', currency: evmNative, amount: '1000000000000000000', weight: '1' },
      refunds: [
        {
          chainId: 'ethereum',
          recipient: repeated('11', 20),
          currency: evmNative,
          minimumAmount: '990000000000000000',
          deadline: 2000000000,
          extraData: '0x',
        },
      ],
    },
  ],
  output: {
    chainId: 'base',
    payments: [
      {
        recipient: repeated('22', 20),
        currency: baseUsdc,
        minimumAmount: '3000000000',
        expectedAmount: '3010000000',
      },
    ],
    calls: [],
    deadline: 2000000000,
    extraData: `0x${'00'.repeat(12)}${'33'.repeat(20)}`,
  },
  fees: [
    {
      recipientChainId: 'base',
      recipient: repeated('44', 20),
      currencyChainId: 'ethereum',
      currency: evmNative,
      amount: '1000000000000000',
    },
  ],
}
export const orderBId: Hex = '0x3066f8a2439e215c99a81077465f375dd7cbf90eb2d7c24b91e2bf1be7b595a4'
export const orderBSolverKey: Hex = `0x${'1234567890'.repeat(7).slice(0, 64)}`
export const orderBSignature: Hex =
  '0x798fbd518f9e4aad2866ae0b5c2ae51a5c8aeb145ee960cb37eeb7c25eed28fc69a3efb8ed3cce6755b7544ad4a9e62ca8b534368092fd1d3a28095771cf90b41b'

/** Order B with a second input on Bitcoin, and an output with a call on Tron. */
export const orderC: Order = {
  ...orderB,
  inputs: [
    ...orderB.inputs,
    {
      payment: { chainId: 'bitcoin', currency: bitcoinNative, amount: '100000', weight: '2' },
      refunds: [
        {
          chainId: 'bitcoin',
          recipient: '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
          currency: bitcoinNative,
          minimumAmount: '99000',
          deadline: 2000000000,
          extraData: '0x',
        },
      ],
    },
  ],
  output: {
    chainId: 'tron',
    payments: [
      {
        recipient: 'TXtEs6t2oUWQsNos7m68gbHdE9Q5n6x2oN',
        currency: tronNative,
        minimumAmount: '5',
        expectedAmount: '6',
      },
    ],
    calls: ['0x1234'],
    deadline: 2000000001,
    extraData: '0x',
  },
}
export const orderCId: Hex = '0x66daa644a939ade03553cde6731f187a01af2d16236d494feb6c028d816ab2e4'

const localUsdc = '0x00000000000000000000000000000000000000c1'

/** An order of a quote between two local chains. */
export const orderOfQuote: Order = {
  version: 'v1',
  solverChainId: 'local-a',
  solver: '0x00000000000000000000000000000000000000e1',
  salt: repeated('5a', 32),
  inputs: [
    {
      payment: { chainId: 'local-a', currency: localUsdc, amount: '100000000', weight: '1' },
      refunds: [
        {
          chainId: 'local-a',
          recipient: repeated('11', 20),
          currency: localUsdc,
          minimumAmount: '0',
          deadline: 1800000600,
          extraData: '0x',
        },
      ],
    },
  ],
  output: {
    chainId: 'local-b',
    payments: [
      {
        recipient: repeated('22', 20),
        currency: evmNative,
        minimumAmount: '39589060000000000',
        expectedAmount: '39788000000000000',
      },
    ],
    calls: [],
    deadline: 1800000600,
    extraData: '0x',
  },
  fees: [],
}
