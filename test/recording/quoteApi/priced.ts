// Every kind of request that is priced: /price and /quote answer the same cases, /quote/v2 those that differ.
import { encodeFunctionData, erc20Abi } from 'viem'
import { userOf } from '../../../apps/quote-api/test/serviceSupport/localRequest.ts'
import type { QuoteStage } from '../support/stage.ts'
import type { QuoteWorld } from '../support/world.ts'
import { askPriced, bodyOf, type Case, type Wish } from './bodies.ts'

const tradeTypes = ['EXACT_INPUT', 'EXACT_OUTPUT', 'EXPECTED_OUTPUT'] as const

const pairs: readonly (Wish & { readonly what: string })[] = [
  { what: 'bridge of USDC' },
  { what: 'bridge of the native currency', pay: 'native' },
  { what: 'swap of USDC for the native currency', receive: 'native' },
  { what: 'swap of the native currency for USDC', pay: 'native', receive: 'USDC' },
  { what: 'swap with a pool on both chains', pay: 'USDX', receive: 'TIDE' },
  { what: 'swap with a pool on the origin', pay: 'TIDE', receive: 'USDC', from: 'optimism', to: 'base' },
  { what: 'swap in one chain', to: 'base', receive: 'USDX' },
]

const oneOff: readonly Case[] = [
  { name: 'bridge the other way', wish: { from: 'optimism', to: 'base' } },
  { name: 'bridge of much', wish: { amount: '90000000000' } },
  { name: 'bridge of little', wish: { amount: '30000' } },
  { name: 'bridge of wrapped ether', wish: { pay: 'wrapped', userIndex: 1 } },
  { name: 'send of USDC', wish: { to: 'base' } },
  { name: 'send of the native currency', wish: { to: 'base', pay: 'native' } },
  {
    name: 'send with app fees',
    wish: { to: 'base', more: { appFees: [{ recipient: appFeeWallet(1), fee: '50' }] } },
  },
  { name: 'wrap', wish: { to: 'base', pay: 'native', receive: 'wrapped' } },
  { name: 'unwrap', wish: { to: 'base', pay: 'wrapped', receive: 'native', userIndex: 1 } },
  { name: 'swap of the native currency in one chain', wish: { to: 'base', pay: 'native', receive: 'TIDE' } },
  { name: 'swap over two pools in one chain', wish: { to: 'base', pay: 'USDX', receive: 'native' } },
  {
    name: 'one chain by the solver',
    wish: { to: 'base', receive: 'native', more: { forceSolverExecution: true } },
  },
  { name: 'app fee', wish: { more: { appFees: [{ recipient: appFeeWallet(1), fee: '100' }] } } },
  {
    name: 'app fees for two',
    wish: {
      pay: 'USDX',
      receive: 'native',
      more: {
        appFees: [
          { recipient: appFeeWallet(1), fee: '33' },
          { recipient: appFeeWallet(2), fee: '1' },
        ],
      },
    },
  },
  { name: 'gas top-up', wish: { more: { topupGas: true } } },
  {
    name: 'gas top-up of another amount',
    wish: { tradeType: 'EXACT_OUTPUT', more: { topupGas: true, topupGasAmount: '123456' } },
  },
  { name: 'tolerance', wish: { pay: 'USDX', receive: 'native', more: { slippageTolerance: '75' } } },
  { name: 'no tolerance', wish: { pay: 'USDX', receive: 'native', more: { slippageTolerance: '0' } } },
  { name: 'refund to somebody else', wish: { more: { refundTo: appFeeWallet(3) } } },
  { name: 'recipient that is somebody else', wish: { more: { recipient: appFeeWallet(4) } } },
  { name: 'plain transfer instead of a deposit', wish: { more: { explicitDeposit: false } } },
  { name: 'with the signature of its order', wish: { more: { includeProtocolData: true } } },
  { name: 'permit', wish: { more: { usePermit: true } } },
  { name: 'permit for an hour', wish: { more: { usePermit: true, permitExpiry: 3_600 } } },
  { name: 'deposit address', wish: { pay: 'native', more: { useDepositAddress: true } } },
  {
    name: 'deposit address for an output',
    wish: {
      pay: 'native',
      tradeType: 'EXPECTED_OUTPUT',
      more: { useDepositAddress: true, refundTo: appFeeWallet(3) },
    },
  },
  {
    name: 'price impact accepted',
    wish: {
      pay: 'TIDE',
      receive: 'USDC',
      amount: '20000000000000000000000',
      more: { overridePriceImpact: true },
    },
  },
  {
    name: 'members that are stripped',
    wish: {
      more: {
        referrer: 'a.client',
        useExternalLiquidity: true,
        useFallbacks: true,
        refundOnOrigin: true,
        unknown: { deep: 1 },
      },
    },
  },
  { name: 'nobody', wish: { more: { user: `0x${'0'.repeat(40)}`, recipient: undefined } } },
  { name: 'leading zeros of an amount', wish: { amount: '00025000000' } },
]

export function appFeeWallet(index: number): string {
  return `0x${'a99fee0'.padEnd(39, '0')}${index}`
}

function withCalls(world: QuoteWorld): readonly Case[] {
  const { tokens } = world.network.deployment.optimism
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [tokens.USDC] })
  const call = { to: tokens.USDC, value: '0', data }
  return [
    { name: 'calls with a gas limit', wish: { more: { txs: [call], txsGasLimit: 123_456 } } },
    { name: 'calls whose gas is simulated', wish: { more: { txs: [call, call] } } },
    {
      name: 'call with value',
      wish: {
        pay: 'native',
        tradeType: 'EXACT_OUTPUT',
        more: { txs: [{ to: appFeeWallet(5), value: '1000', data: '0x' }], txsGasLimit: 50_000 },
      },
    },
  ]
}

function cases(world: QuoteWorld): readonly Case[] {
  const byTradeType = pairs.flatMap(({ what, ...wish }) =>
    tradeTypes.map((tradeType) => ({ name: `${what}, ${tradeType}`, wish: { ...wish, tradeType } })),
  )
  return [...byTradeType, ...oneOff, ...withCalls(world)]
}

export async function recordPrices({ quoteApi: session, world }: QuoteStage): Promise<void> {
  for (const { name, wish } of cases(world)) {
    await askPriced(session, { name, path: '/price', body: bodyOf(world.network, wish) })
  }
}

export async function recordQuotes({ quoteApi: session, world }: QuoteStage): Promise<void> {
  for (const { name, wish } of cases(world)) {
    await askPriced(session, { name, path: '/quote', body: bodyOf(world.network, wish) })
  }
  const { address: user } = userOf(world.network, 0)
  const upper = { user: `0x${user.slice(2).toUpperCase()}` }
  for (const [name, more] of [
    ['v2', {}],
    ['v2 without recipient', { recipient: undefined }],
    ['v2 for nobody', { user: `0x${'0'.repeat(40)}`, recipient: undefined }],
    ['v2 with an address in upper case', upper],
    ['v2 by permit', { usePermit: true }],
  ] as const) {
    await askPriced(session, { name, path: '/quote/v2', body: bodyOf(world.network, { more }) })
  }
}
