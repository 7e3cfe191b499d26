// Refusals of prices and quotes: every code that a body or its headers can reach.
import type { QuoteStage } from '../support/stage.ts'
import { askPriced, bodyOf, type Wish } from './bodies.ts'
import { appFeeWallet } from './priced.ts'

const uint256Max = (2n ** 256n - 1n).toString()
const call = { to: appFeeWallet(5), value: '0', data: '0x' }
const fee = { recipient: appFeeWallet(1), fee: '1' }
const many = (count: number, item: object) => Array.from({ length: count }, () => item)

/** Members that break the schema. */
const malformed: readonly (readonly [string, object])[] = [
  ['user missing', { user: undefined }],
  ['user empty', { user: '' }],
  ['user a number', { user: 5 }],
  ['user null', { user: null }],
  ['user too long', { user: 'a'.repeat(129) }],
  ['recipient a list', { recipient: [] }],
  ['originChainId missing', { originChainId: undefined }],
  ['originChainId as text', { originChainId: '8453' }],
  ['originChainId a fraction', { originChainId: 1.5 }],
  ['destinationChainId unsafe', { destinationChainId: 2 ** 53 }],
  ['currencies missing', { originCurrency: undefined, destinationCurrency: undefined }],
  ['amount missing', { amount: undefined }],
  ['amount a number', { amount: 5 }],
  ['amount a decimal', { amount: '1.0' }],
  ['amount in hex', { amount: '0x10' }],
  ['amount of 2^256', { amount: String(2n ** 256n) }],
  ['tradeType missing', { tradeType: undefined }],
  ['tradeType in lower case', { tradeType: 'exact_input' }],
  ['21 txs', { txs: many(21, call) }],
  ['txs to no address', { txs: [{ ...call, to: '0x12' }] }],
  ['txs data of odd length', { txs: [{ ...call, data: '0xabc' }] }],
  ['txsGasLimit above 10 million', { txsGasLimit: 10_000_001 }],
  ['11 appFees', { appFees: many(11, fee) }],
  [
    'appFees above all',
    {
      appFees: [
        { ...fee, fee: '9999' },
        { ...fee, fee: '2' },
      ],
    },
  ],
  ['appFees to a name', { appFees: [{ ...fee, recipient: 'me' }] }],
  ['flags of other types', { refundOnOrigin: 'true', usePermit: null, useDepositAddress: '', topupGas: 1 }],
  ['permitExpiry of a second', { usePermit: true, permitExpiry: 1 }],
  ['slippageTolerance above all', { slippageTolerance: '10001' }],
  ['slippageTolerance a number', { slippageTolerance: 50 }],
  ['slippageTolerance and another', { slippageTolerance: 'x', amount: 'x' }],
]

/** Well formed, and refused by a rule. */
const refused: readonly (readonly [string, Wish])[] = [
  ['amount of zero', { amount: '0' }],
  ['amount below the fees', { amount: '1' }],
  ['amount at the fees', { amount: '22000' }],
  ['output of zero', { amount: '0', tradeType: 'EXACT_OUTPUT' }],
  ['swap in one chain of too little', { to: 'base', receive: 'USDX', amount: '49999' }],
  ['origin chain that is not listed', { more: { originChainId: 1 } }],
  ['destination chain that is not listed', { more: { destinationChainId: 4_242 } }],
  ['origin currency that is not listed', { more: { originCurrency: appFeeWallet(6) } }],
  ['origin currency that is no address', { more: { originCurrency: 'USDC' } }],
  ['destination currency that is not listed', { more: { destinationCurrency: appFeeWallet(6) } }],
  ['currency named like an object member', { more: { originCurrency: '__proto__' } }],
  ['user that is no address', { more: { user: 'constructor' } }],
  ['recipient that is no address', { more: { recipient: 'me' } }],
  ['recipient that is nobody', { more: { recipient: `0x${'0'.repeat(40)}` } }],
  ['refundTo that is no address', { more: { refundTo: '0x12' } }],
  ['gas top-up of the output', { receive: 'native', more: { topupGas: true } }],
  ['gas top-up above the input', { more: { topupGas: true, topupGasAmount: '25000000' } }],
  ['app fees of everything', { more: { appFees: [{ ...fee, fee: '10000' }] } }],
  [
    'app fees of nearly everything',
    { tradeType: 'EXACT_OUTPUT', more: { appFees: [{ ...fee, fee: '9999' }] } },
  ],
  ['more than the solver has', { amount: '50000000000000' }],
  ['output beyond what the solver has', { amount: '5000000000000', tradeType: 'EXACT_OUTPUT' }],
  ['amount beyond any supply', { amount: uint256Max }],
  ['output beyond any supply', { amount: uint256Max, tradeType: 'EXACT_OUTPUT' }],
  ['swap beyond what pools count', { pay: 'USDX', receive: 'USDC', amount: uint256Max }],
  ['swap that loses too much', { pay: 'TIDE', receive: 'USDC', amount: '200000000000000000000000' }],
  ['calls with value, and a token', { more: { txs: [{ ...call, value: '1' }], txsGasLimit: 50_000 } }],
  [
    'calls with more value than the output',
    { pay: 'native', more: { txs: [{ ...call, value: '50000000000000000' }], txsGasLimit: 50_000 } },
  ],
  ['calls that revert', { more: { txs: [{ ...call, to: `0x${'0'.repeat(39)}9`, data: '0x01' }] } }],
  ['calls after a swap', { pay: 'USDX', receive: 'native', more: { txs: [call], txsGasLimit: 50_000 } }],
  ['permit of the native currency', { pay: 'native', more: { usePermit: true } }],
  ['permit of what is swapped first', { pay: 'USDX', receive: 'native', more: { usePermit: true } }],
  ['permit and deposit address', { more: { usePermit: true, useDepositAddress: true } }],
  ['permit in one chain', { to: 'base', more: { usePermit: true } }],
  ['deposit address of a token that is swapped first', { pay: 'TIDE', more: { useDepositAddress: true } }],
  ['one use of no deposit address', { pay: 'native', more: { strict: true } }],
  ['deposit address with calls', { pay: 'native', more: { useDepositAddress: true, txs: [call] } }],
  [
    'deposit address for an exact output',
    { pay: 'native', tradeType: 'EXACT_OUTPUT', more: { useDepositAddress: true } },
  ],
  [
    'deposit address of one use, nobody to refund',
    { pay: 'native', more: { useDepositAddress: true, strict: true } },
  ],
  [
    'deposit address that refunds nobody',
    { pay: 'native', more: { useDepositAddress: true, user: `0x${'0'.repeat(40)}`, recipient: undefined } },
  ],
]

const badBodies: readonly (readonly [string, string])[] = [
  ['an empty body', ''],
  ['half a JSON', '{"user": "0x'],
  ['a list', '[]'],
  ['null', 'null'],
  ['text', '"text"'],
  ['a number', '1'],
  ['a member of the prototype', '{"__proto__": {"user": "0x"}}'],
  ['a body above the limit', JSON.stringify({ user: 'a'.repeat(1_100_000) })],
]

export async function recordRefused({ quoteApi: session, world: { network } }: QuoteStage): Promise<void> {
  const path = '/price'
  for (const [name, more] of malformed) await session.ask({ name, path, body: bodyOf(network, { more }) })
  const { depository, tokens } = network.deployment.optimism
  const more: readonly (readonly [string, Wish])[] = [
    ['recipient that is a token', { more: { recipient: tokens.USDC } }],
    [
      'calls that the depository refuses',
      { more: { txs: [{ to: depository, value: '0', data: '0xdeadbeef' }] } },
    ],
  ]
  for (const [name, wish] of [...refused, ...more]) {
    await askPriced(session, { name, path: '/quote/v2', body: bodyOf(network, wish) })
  }
  await session.ask({
    name: 'quote without recipient',
    path: '/quote',
    body: bodyOf(network, { more: { recipient: undefined } }),
  })
  for (const [name, body] of badBodies) await session.ask({ name, path, body })
}

/** Requests that a route does not accept as its own. */
export async function recordMisdirected({
  quoteApi: session,
  world: { network },
}: QuoteStage): Promise<void> {
  const body = bodyOf(network, {})
  const type = (text: string) => ({ 'content-type': text })
  await session.ask({
    name: 'form data',
    path: '/price',
    body: 'user=0x',
    headers: type('application/x-www-form-urlencoded'),
  })
  await session.ask({ name: 'text', path: '/price', body: '{}', headers: type('text/plain') })
  await session.ask({
    name: 'JSON with a charset',
    path: '/price',
    body,
    headers: type('application/json; charset=utf-8'),
  })
  await session.ask({ name: 'no such route', path: '/nothing' })
  await session.ask({ name: 'no such route with a body', path: '/nothing', body })
  await session.ask({ name: 'GET of a route of POST', path: '/price' })
  await session.ask({ name: 'DELETE of a route of POST', method: 'DELETE', path: '/price' })
  await session.ask({ name: 'POST of a route of GET', path: '/chains', body: {} })
  await session.ask({ name: 'HEAD of a route of GET', method: 'HEAD', path: '/chains' })
  await session.ask({ name: 'HEAD of no route', method: 'HEAD', path: '/nothing' })
  await session.ask({ name: 'OPTIONS', method: 'OPTIONS', path: '/price' })
  await session.ask({
    name: 'OPTIONS as a browser asks before a request',
    method: 'OPTIONS',
    path: '/price',
    headers: {
      origin: 'https://page.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-api-key',
    },
  })
  await session.ask({ name: 'a path that cannot be decoded', path: '/chains/%E0%A4%A' })
  await session.ask({
    name: 'a key that nobody has',
    path: '/price',
    body,
    headers: { 'x-api-key': 'sk_unknown' },
  })
  await session.ask({
    name: 'a key that nobody has on a route without key',
    path: '/chains',
    headers: { 'x-api-key': 'x'.repeat(300) },
  })
  await session.ask({
    name: 'headers above the limit',
    path: '/chains',
    headers: { 'x-long': 'a'.repeat(20_000) },
  })
}
