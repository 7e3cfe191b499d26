import { ethereumCodec } from '@causeway/core/encodings'
import type { OriginRoute, QuotedCurrency } from '../../../../rules/originRoute.ts'
import type { ChainSettings } from '../../../../rules/quotingFamily.ts'

// A chain, its currencies and routes from it, for tests of what users send.

const account = (digit: string) => `0x${digit.repeat(40)}` as const

export const user = account('1')
export const recipient = account('2')
export const depository = account('4')
export const depositRouter = account('5')
export const wrappedNative = account('6')

export const settings: ChainSettings = {
  chainId: 10,
  codec: ethereumCodec,
  depository,
  depositRouter,
  wrappedNative,
}

export const native: QuotedCurrency = {
  address: ethereumCodec.nativeCurrency,
  isNative: true,
  resetsAllowance: false,
}
export const token: QuotedCurrency = { address: account('3'), isNative: false, resetsAllowance: false }
export const otherToken: QuotedCurrency = { ...token, address: account('7') }

/** A deposit of 100 of the token, of which 110 are taken at most. */
export const tokenDeposit: OriginRoute = {
  user,
  recipient,
  by: 'deposit',
  currencyIn: token,
  currencyOut: native,
  amountIn: 100n,
  amountInMax: 110n,
  amountOut: 90n,
  amountOutMin: 80n,
  swap: undefined,
  deposited: { currency: token, amount: 95n },
}

/** A swap of the token for native coin, through one pool. */
export const tokenSwap = {
  trade: 'exactInput',
  from: token,
  hops: [{ to: native, feePips: 500 }],
  ticksCrossed: 3,
} as const
