import { type Hex, hexDigits, parseDecimal, utf8Bytes } from '@causeway/core'
import { hyperliquidCodec, InvalidWithdrawalError } from '@causeway/core/encodings'
import type { WithdrawalTransfer } from '../../rules/withdrawalBytes.ts'
import type { HyperliquidWithdrawal, SendAsset } from './withdrawal.ts'

/**
 * Decimals of the native currency, perps USDC.
 * @source github.com/relayprotocol/relay-protocol-oracle, vm/hyperliquid-vm/index.ts
 */
export const hyperliquidNativeDecimals = 8

/**
 * USDC of the main network, which the native currency stands for.
 * @source Hyperliquid API, "Info endpoint", spotMeta
 */
export const usdcToken: Hex = '0x6d1e7cde53ba9467b783cb7c530ce054'
/** Names of dexes that a currency can spell. */
const dexForm = /^[\x21-\x7e]{1,4}$/
const tokenForm = /^[^:]{1,64}:(0x[0-9a-f]{32})$/

/**
 * The currency that an action moves, by the dex that it leaves. `spot`: the token's id. First perps dex: only USDC, the
 * native currency. Another perps dex: the token's id and, as hex, the ASCII of the dex's name.
 * @throws InvalidWithdrawalError
 * @source rule F-151
 */
export function hyperliquidWithdrawalCurrency(withdrawal: HyperliquidWithdrawal): string {
  if (withdrawal.type === 'UsdSend') return hyperliquidCodec.nativeCurrency
  const [currency, tokenId] = [hyperliquidCurrency(withdrawal), tokenIdOf(withdrawal)]
  if (currency !== undefined) return currency
  throw new InvalidWithdrawalError(
    tokenId === undefined ? 'its token has no id' : 'its dex does not have its token',
  )
}

/** See `hyperliquidWithdrawalCurrency`; `undefined` where the action names no currency. */
export function hyperliquidCurrency(sent: Pick<SendAsset, 'sourceDex' | 'token'>): string | undefined {
  const tokenId = tokenIdOf(sent)
  if (tokenId === undefined) return undefined
  if (sent.sourceDex === 'spot') return tokenId
  if (sent.sourceDex === '') return tokenId === usdcToken ? hyperliquidCodec.nativeCurrency : undefined
  return dexForm.test(sent.sourceDex) ? `${tokenId}${hexDigits(utf8Bytes(sent.sourceDex))}` : undefined
}

/**
 * The payment of a withdrawal, exact whatever number of digits its amount has.
 * @param decimals of the withdrawal's currency: `hyperliquidNativeDecimals`, or what the exchange says of
 * the token
 * @throws InvalidWithdrawalError
 */
export function hyperliquidWithdrawalTransfer(
  withdrawal: HyperliquidWithdrawal,
  decimals: number,
): WithdrawalTransfer {
  const { destination } = withdrawal
  if (!hyperliquidCodec.isAddress(destination)) {
    throw new InvalidWithdrawalError('its destination is no account')
  }
  const amount = parseDecimal(withdrawal.amount, decimals)
  if (amount === undefined) throw new InvalidWithdrawalError('its amount is no number of units')
  const currency = hyperliquidWithdrawalCurrency(withdrawal)
  return { currency, amount, recipient: hyperliquidCodec.canonicalAddress(destination) }
}

function tokenIdOf({ token }: Pick<SendAsset, 'token'>): string | undefined {
  return tokenForm.exec(token.toLowerCase())?.[1]
}
