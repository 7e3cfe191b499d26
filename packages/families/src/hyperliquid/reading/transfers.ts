import { parseWholeUnits } from '@causeway/core'
import { codecOf, mainNetwork } from '@causeway/core/encodings'
import { hyperliquidCurrency, hyperliquidNativeDecimals } from '../rules/withdrawalTransfer.ts'
import type { SendAction } from './answers.ts'

export const hyperliquidCodec = codecOf(mainNetwork('hyperliquid-vm'))

/**
 * The currency that reaches the destination, by the dex that it enters: what the receiver holds afterwards.
 * `undefined` where no currency stands for it. @source rule F-151
 */
export function receivedCurrency(send: SendAction): string | undefined {
  if (send.type === 'UsdSend') return hyperliquidCodec.nativeCurrency
  return hyperliquidCurrency({ sourceDex: send.destinationDex, token: send.token })
}

/** The 16-byte id at the start of a token's currency, as hex; `undefined` for the native currency. */
export function tokenIdOf(currency: string): string | undefined {
  return currency === hyperliquidCodec.nativeCurrency ? undefined : currency.slice(0, 34)
}

/** Amount in smallest units, rounded down: a fraction of a unit can never be spent. @param decimals of the currency */
export function wholeUnits(amount: string, decimals: number = hyperliquidNativeDecimals): bigint {
  const units = parseWholeUnits(amount, decimals)
  if (units === undefined) throw new Error('an amount was read that is no decimal number')
  return units
}

/** The nonce of the action: the time of a USDC send. */
export function nonceOf(send: SendAction): bigint {
  return send.type === 'UsdSend' ? send.time : send.nonce
}
