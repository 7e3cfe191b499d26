import type { GasShape } from '../rules/quoting/gasUnits.ts'
import type { CalldataWord } from './probeTransaction.ts'

// The lists below follow the ABI encodings of the contracts' functions, word by word: only sizes matter, not values.

/** The ABI words of a shape's calldata, and whether the transaction carries native coin. */
export type ShapeProbe = { readonly words: readonly CalldataWord[]; readonly carriesValue: boolean }

const repeat = (word: CalldataWord, count: number): readonly CalldataWord[] =>
  Array.from({ length: count }, () => word)

/** A transfer with an order id behind it, as a deposit by plain transfer has. */
const erc20Transfer: readonly CalldataWord[] = ['address', 'amount', 'hash']
/** Router call of one pool: tokens, fee, recipient, deadline, two amounts, price limit. */
const poolSwap: readonly CalldataWord[] = ['address', 'address', 'amount', 'address', ...repeat('amount', 4)]
/** At least the size of a fill's id, deadline, offsets and lengths of its lists, and the order id behind them. */
const fillFrame: readonly CalldataWord[] = [...repeat('amount', 3), 'address', ...repeat('amount', 3), 'hash']
/** The deposit router's words before its swap: tokens, amounts, payee, id, offset and length. */
const swapFrame = ['address', 'amount', 'address', 'amount', 'address', 'hash', 'amount', 'amount'] as const

const routedSwap: ShapeProbe = { words: [...swapFrame, ...poolSwap], carriesValue: true }

/** Sweep of a deposit address: its terms, the order's words, the signature's offset, the token, and the signature. */
const sweep: readonly CalldataWord[] = [
  ...repeat('address', 3),
  ...repeat('hash', 3),
  'address',
  ...repeat('hash', 4),
  ...(['amount', 'address', 'amount', 'hash', 'hash', 'amount'] as const),
]

/** Deposit, offset and length of the signature, and its 65 bytes as the words that they fill. */
const signedDeposit: readonly CalldataWord[] = [
  ...(['address', 'address', 'amount', 'amount', 'hash'] as const),
  ...(['amount', 'amount', 'hash', 'hash', 'amount'] as const),
]

/** A router's Permit2 call with two listed calls, without these. */
const permit2Frame: readonly CalldataWord[] = [
  // User, offsets of permit and calls, accounts for leftover coins and NFTs, offsets of metadata and signature.
  ...(['address', 'amount', 'amount', 'address', 'address', 'amount', 'amount'] as const),
  // Permit: offset, nonce, deadline, length, token and amount. Calls: length and two offsets.
  ...(['amount', 'hash', 'amount', 'amount', 'address', 'amount', 'amount', 'amount', 'amount'] as const),
  // Metadata and signature, each behind its length.
  ...(['amount', 'hash', 'amount', 'hash', 'hash', 'amount'] as const),
]
/** Listed call without its arguments: target, flag, value, offset, length, and a word of selector and padding. */
const callFrame: readonly CalldataWord[] = ['address', ...repeat('amount', 5)]
/** Permit2 call up to the arguments of its second listed call. The first one approves the second's target. */
const permit2Approval: readonly CalldataWord[] = [
  ...permit2Frame,
  ...callFrame,
  'address',
  'amount',
  ...callFrame,
]

/** Calldata of each shape, for chains that charge for data. If a shape has variants, the longest usual one counts. */
export const shapeProbes: Readonly<Record<GasShape, ShapeProbe>> = {
  approve: { words: ['address', 'amount'], carriesValue: false },
  'deposit-native': { words: ['address', 'hash'], carriesValue: true },
  'deposit-erc20': { words: ['address', 'address', 'amount', 'hash'], carriesValue: false },
  'permit-eip3009': { words: signedDeposit, carriesValue: false },
  'permit-eip2612': { words: signedDeposit, carriesValue: false },
  'permit-permit2': {
    words: [...permit2Approval, 'address', 'address', 'amount', 'hash'],
    carriesValue: false,
  },
  'permit-permit2-swap': {
    words: [...permit2Approval, ...swapFrame, ...poolSwap],
    carriesValue: false,
  },
  // A smart account's calldata is assumed to be as long as Permit2's; the submitting multicall adds a frame.
  execute: {
    words: [...permit2Approval, ...callFrame, 'address', 'address', 'amount', 'hash'],
    carriesValue: false,
  },
  'execute-swap': {
    words: [...permit2Approval, ...callFrame, ...swapFrame, ...poolSwap],
    carriesValue: false,
  },
  swap: routedSwap,
  'swap-deposit': routedSwap,
  wrap: { words: [], carriesValue: true },
  unwrap: { words: ['amount'], carriesValue: false },
  'send-native': { words: [], carriesValue: true },
  'send-erc20': { words: erc20Transfer, carriesValue: false },
  'fill-native': { words: [...fillFrame, 'address', 'amount'], carriesValue: true },
  'fill-erc20': { words: [...fillFrame, 'address', 'address', 'amount'], carriesValue: false },
  // A token payment to the order's clone, and two calls of the clone: an approval and a swap.
  'fill-swap': {
    words: [...fillFrame, 'address', 'address', 'amount', ...fillFrame, 'address', 'amount', ...poolSwap],
    carriesValue: false,
  },
  'fill-topup': { words: ['address', 'amount'], carriesValue: true },
  'sweep-native': { words: sweep, carriesValue: false },
  'sweep-erc20': { words: sweep, carriesValue: false },
  'sweep-swap': {
    words: [
      ...sweep,
      // Terms of the swap, its amount, offset and length of its calldata.
      ...(['amount', 'address', 'amount', 'address', 'amount', 'amount', 'hash', 'amount'] as const),
      ...poolSwap,
    ],
    carriesValue: false,
  },
  'refund-native': { words: [...fillFrame, 'address', 'amount'], carriesValue: true },
  'refund-erc20': { words: [...fillFrame, 'address', 'address', 'amount'], carriesValue: false },
}
