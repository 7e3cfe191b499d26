import type { Hex } from '@causeway/core'
import { InvalidWithdrawalError } from '@causeway/core/encodings'
import { scriptAddress } from '../rules/script.ts'
import { type BitcoinTransaction, isSameOutput } from '../rules/transaction.ts'
import {
  type BitcoinWithdrawal,
  bitcoinWithdrawalId,
  bitcoinWithdrawalTransfer,
  decodeBitcoinWithdrawal,
} from '../rules/withdrawal.ts'
import type { BitcoinRules } from './deposits.ts'

/**
 * Contents of a withdrawal's PSBT. What its inputs claim to spend is unproven until the chain shows it.
 */
export type WithdrawalTerms = {
  readonly withdrawalId: Hex
  readonly psbt: BitcoinWithdrawal
  /** Depositories that it spends from. */
  readonly payingDepositories: readonly string[]
  readonly currency: string
  /** Amount that leaves the depository, in satoshi: the first output plus the fee. */
  readonly amount: bigint
  readonly recipient: string
}

/** Limit of inputs, because each takes several readings. */
const inputsMax = 500

/** @throws InvalidWithdrawalError; also for a PSBT that spends nothing of a depository, or more than 500 outputs */
export function readWithdrawalTerms(
  withdrawal: Hex,
  { network, depositories }: BitcoinRules,
): WithdrawalTerms {
  const psbt = decodeBitcoinWithdrawal(withdrawal)
  if (psbt.inputs.length > inputsMax) throw new InvalidWithdrawalError('it spends too many outputs')
  const spentFrom = psbt.inputs.map(({ spent }) => scriptAddress(spent.script, network))
  const payingDepositories = depositories.filter((depository) => spentFrom.includes(depository))
  if (payingDepositories.length === 0) throw new InvalidWithdrawalError('it spends nothing of a depository')
  return {
    withdrawalId: bitcoinWithdrawalId(withdrawal),
    psbt,
    payingDepositories,
    ...bitcoinWithdrawalTransfer(psbt, network),
  }
}

/**
 * Decides if the one transaction that spent inputs of the PSBT is the PSBT's own: it spends the same outputs and pays
 * the same outputs, in order; any other has made the PSBT `expired`, since it spent what the PSBT needs.
 * It does not matter who signed and how: the money has left either way.
 * Signatures, version, sequences and lock time of a PSBT are free choices of its author.
 * @source rule F-135
 */
export function judgeSpender(
  { psbt }: Pick<WithdrawalTerms, 'psbt'>,
  spender: BitcoinTransaction,
): 'executed' | 'expired' {
  const { inputs, outputs } = psbt.transaction
  const isSame =
    isEach(spender.inputs, inputs, (one, other) => one.txid === other.txid && one.vout === other.vout) &&
    isEach(spender.outputs, outputs, isSameOutput)
  return isSame ? 'executed' : 'expired'
}

function isEach<Element>(
  these: readonly Element[],
  those: readonly Element[],
  isSame: (one: Element, other: Element) => boolean,
): boolean {
  return (
    these.length === those.length &&
    these.every((one, index) => {
      const other = those[index]
      return other !== undefined && isSame(one, other)
    })
  )
}
