import type { Hex } from '@causeway/core'
import { sha256TextHex } from '@causeway/core'
import { type BitcoinNetwork, createBitcoinCodec, InvalidWithdrawalError } from '@causeway/core/encodings'
import { type WithdrawalTransfer, withdrawalBytes } from '../../rules/withdrawalBytes.ts'
import { type Psbt, type PsbtInput, parsePsbt } from './psbt.ts'
import { scriptAddress } from './script.ts'
import { type BitcoinOutput, satoshiMax } from './transaction.ts'

/** A PSBT whose inputs all say what they spend. */
export type BitcoinWithdrawal = Omit<Psbt, 'inputs'> & {
  readonly inputs: readonly (PsbtInput & { readonly spent: BitcoinOutput })[]
  /** Fee in satoshi: the inputs less the outputs. */
  readonly fee: bigint
}

/**
 * SHA-256 of the hex text of the PSBT, `0x` included, in lower case.
 * @throws InvalidWithdrawalError when it is not hex
 * @source github.com/relayprotocol/relay-settlement, withdrawals/bitcoin-vm.ts
 */
export function bitcoinWithdrawalId(withdrawal: Hex): Hex {
  withdrawalBytes(withdrawal)
  return sha256TextHex(withdrawal.toLowerCase())
}

/**
 * Reads the PSBT of a withdrawal. What an input spends is the PSBT's claim: its value is proven only by
 * the chain. @throws InvalidWithdrawalError
 */
export function decodeBitcoinWithdrawal(withdrawal: Hex): BitcoinWithdrawal {
  const psbt = parsePsbt(withdrawalBytes(withdrawal))
  const { transaction } = psbt
  const inputs = psbt.inputs.map(({ spent, ...input }) => {
    if (spent === undefined) throw new InvalidWithdrawalError('an input does not say what it spends')
    return { ...input, spent }
  })
  const fee = sum(inputs.map(({ spent }) => spent)) - sum(transaction.outputs)
  if (fee < 0n) throw new InvalidWithdrawalError('its outputs hold more than its inputs')
  return { transaction, inputs, fee }
}

/**
 * The payment of a withdrawal: its first output, and the fee with it, because both leave the depository.
 * @throws InvalidWithdrawalError when the first output pays no address of `network`
 * @source rule P-115
 */
export function bitcoinWithdrawalTransfer(
  { transaction, fee }: BitcoinWithdrawal,
  network: BitcoinNetwork,
): WithdrawalTransfer {
  const [first] = transaction.outputs
  const recipient = first === undefined ? undefined : scriptAddress(first.script, network)
  if (first === undefined || recipient === undefined) {
    throw new InvalidWithdrawalError('its first output pays no address')
  }
  const { nativeCurrency } = createBitcoinCodec(network)
  return { currency: nativeCurrency, amount: first.value + fee, recipient }
}

function sum(outputs: readonly BitcoinOutput[]): bigint {
  if (outputs.some(({ value }) => value > satoshiMax)) {
    throw new InvalidWithdrawalError('an output holds more bitcoin than there can be')
  }
  return outputs.reduce((total, { value }) => total + value, 0n)
}
