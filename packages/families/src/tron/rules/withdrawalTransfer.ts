import {
  createTronCodec,
  ethereumCodec,
  type TronNetwork,
  tronAddress,
  tronMainnet,
} from '@causeway/core/encodings'
import type { EvmWithdrawal } from '../../ethereum/rules/withdrawal.ts'
import { withdrawalTransfer } from '../../ethereum/rules/withdrawalTransfer.ts'
import type { WithdrawalTransfer } from '../../rules/withdrawalBytes.ts'

/**
 * The payment of a withdrawal, which has the bytes and the id of one on ethereum-vm; addresses in base58.
 * @throws InvalidWithdrawalError
 * @source oracle-protocol.md 1.7
 */
export function tronWithdrawalTransfer(
  withdrawal: EvmWithdrawal,
  network: TronNetwork = tronMainnet,
): WithdrawalTransfer {
  const { currency, amount, recipient } = withdrawalTransfer(withdrawal)
  const isNative = currency === ethereumCodec.nativeCurrency
  return {
    currency: isNative ? createTronCodec(network).nativeCurrency : tronAddress(currency, network),
    amount,
    recipient: tronAddress(recipient, network),
  }
}
