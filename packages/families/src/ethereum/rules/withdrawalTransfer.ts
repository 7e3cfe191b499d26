import type { Hex } from '@causeway/core'
import { ethereumCodec, InvalidWithdrawalError } from '@causeway/core/encodings'
import type { WithdrawalTransfer } from '../../rules/withdrawalBytes.ts'
import type { EvmWithdrawal } from './withdrawal.ts'

/** `transfer(address,uint256)` and its two words, with nothing behind them. */
const transferCall = /^0xa9059cbb0{24}([0-9a-f]{40})([0-9a-f]{64})$/

/**
 * Reads the one payment of a withdrawal. A call without data pays the native currency; any other must be a plain ERC-20
 * transfer. A second call is refused, since it could move money for which no balance was burnt on the hub.
 * @throws InvalidWithdrawalError
 * @source rule P-112
 */
export function withdrawalTransfer({ calls }: EvmWithdrawal): WithdrawalTransfer {
  const [call, ...others] = calls
  if (call === undefined || others.length > 0) {
    throw new InvalidWithdrawalError('it does not have exactly one call')
  }
  const to = lowerCase(call.to)
  if (call.data === '0x') {
    return { currency: ethereumCodec.nativeCurrency, amount: call.value, recipient: to }
  }
  const [, recipient, amount] = transferCall.exec(call.data.toLowerCase()) ?? []
  // A token call to the zero address succeeds without moving anything, and would be read as native.
  const isToken = to !== ethereumCodec.nativeCurrency && call.value === 0n
  if (recipient === undefined || amount === undefined || !isToken) {
    throw new InvalidWithdrawalError('its call is neither a native payment nor a token transfer')
  }
  return { currency: to, amount: BigInt(`0x${amount}`), recipient: `0x${recipient}` }
}

function lowerCase(address: Hex): Hex {
  return `0x${address.slice(2).toLowerCase()}`
}
