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
 * The payment of a withdrawal, with addresses in base58. Bytes and id of a withdrawal are those of ethereum-vm.
 * @throws InvalidWithdrawalError
 * @source rule P-112
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
