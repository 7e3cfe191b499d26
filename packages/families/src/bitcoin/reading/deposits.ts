import type { DepositFact, Hex } from '@causeway/core'
import { type BitcoinNetwork, createBitcoinCodec } from '@causeway/core/encodings'
import { scriptAddress } from '../rules/script.ts'
import type { BitcoinOutput, BitcoinTransaction } from '../rules/transaction.ts'
import { BitcoinDepositError } from './bitcoinErrors.ts'
import { opReturnTexts } from './opReturn.ts'

/** Settings of a chain by which its transactions are read as deposits, payments and withdrawals. */
export type BitcoinRules = {
  readonly network: BitcoinNetwork
  /** Canonical, the primary one first. */
  readonly depositories: readonly string[]
}

/** A final transaction that may be a deposit. */
export type DepositTransaction = {
  readonly transactionId: string
  readonly transaction: BitcoinTransaction
  /** Output that each input spends; `undefined` for that of a coinbase, a miner's reward. */
  readonly spent: readonly (BitcoinOutput | undefined)[]
}

const zeroId: Hex = `0x${'0'.repeat(64)}`
const idPattern = /^0x[0-9a-fA-F]{64}/
/** The closing bar is not consumed, so that it may open the next name. */
const depositorPattern = /\|depositor=([^|]+)(?=\|)/g

/**
 * The one deposit of a transaction; none when it spends from a depository, which makes it a withdrawal. OP_RETURN
 * texts name the deposit id (the first text that begins with one; else zero) and the depositor (else the first
 * input's owner).
 * @throws BitcoinDepositError
 * @source rule F-131
 */
export function findDeposits(deposit: DepositTransaction, rules: BitcoinRules): readonly DepositFact[] {
  const { transaction, transactionId, spent } = deposit
  const { network, depositories } = rules
  const addressOf = (output: BitcoinOutput | undefined) => output && scriptAddress(output.script, network)
  const isDepository = (address: string | undefined) =>
    address !== undefined && depositories.includes(address)
  if (spent.some((output) => isDepository(addressOf(output)))) return []

  const paid = transaction.outputs.flatMap((output) => {
    const address = addressOf(output)
    return address !== undefined && isDepository(address) && output.value > 0n
      ? [{ address, value: output.value }]
      : []
  })
  const [depository, ...others] = new Set(paid.map(({ address }) => address))
  if (depository === undefined) throw new BitcoinDepositError('NO_VALUE_TO_DEPOSITORY', transactionId)
  if (others.length > 0) throw new BitcoinDepositError('MULTIPLE_DEPOSITORIES_FUNDED', transactionId)

  const texts = opReturnTexts(transaction)
  const idText = texts.find(({ text }) => idPattern.test(text))
  const codec = createBitcoinCodec(network)
  const depositor =
    texts
      .flatMap(({ text }) => [...text.matchAll(depositorPattern)])
      .map(([, address = '']) => address)
      .find((address) => codec.isAddress(address)) ?? addressOf(spent[0])
  if (depositor === undefined) throw new BitcoinDepositError('DEPOSITOR_UNKNOWN', transactionId)
  return [
    {
      // The OP_RETURN output that names the id; 0 without one, since a transaction has only one deposit.
      onchainIndex: String(idText?.vout ?? 0),
      depository,
      depositId: idText === undefined ? zeroId : depositIdOf(idText.text),
      depositor: codec.canonicalAddress(depositor),
      currency: codec.nativeCurrency,
      amount: paid.reduce((sum, { value }) => sum + value, 0n),
    },
  ]
}

function depositIdOf(text: string): Hex {
  return `0x${text.slice(2, zeroId.length).toLowerCase()}`
}
