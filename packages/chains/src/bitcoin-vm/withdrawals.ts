import {
  type BitcoinInput,
  type BitcoinNetwork,
  type BitcoinTransaction,
  type BitcoinWithdrawal,
  bitcoinTransactionId,
  bitcoinWithdrawalId,
  bitcoinWithdrawalTransfer,
  decodeBitcoinWithdrawal,
  type Hex,
  InvalidWithdrawalError,
  scriptAddress,
} from '@causeway/core'
import type { BitcoinRules } from './deposits.ts'
import { isOpReturn } from './opReturn.ts'

/** What the PSBT of a withdrawal says. What its inputs spend is a claim until the chain has shown it. */
export type WithdrawalTerms = {
  readonly withdrawalId: Hex
  readonly psbt: BitcoinWithdrawal
  /** Positions of the inputs that spend from a depository. */
  readonly allocatorInputs: readonly number[]
  /** Depositories that it spends from. */
  readonly payingDepositories: readonly string[]
  readonly currency: string
  /** What leaves the depository: the first output and the fee. */
  readonly amount: bigint
  readonly recipient: string
}

/** Each takes readings of its own. */
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
    allocatorInputs: spentFrom.flatMap((address, index) =>
      address !== undefined && depositories.includes(address) ? [index] : [],
    ),
    payingDepositories,
    ...transferOf(psbt, network),
  }
}

function transferOf(psbt: BitcoinWithdrawal, network: BitcoinNetwork) {
  const { currency, amount, recipient } = bitcoinWithdrawalTransfer(psbt, network)
  return { currency, amount, recipient }
}

/**
 * - `foreign`: the signatures or the mark of the PSBT are those of another transaction than its own
 * - `unsupported`: the PSBT carries nothing by which its transaction could be known
 */
export type SpenderVerdict = 'executed' | 'expired' | 'foreign' | 'unsupported'

/**
 * Whether the one transaction that spent inputs of the PSBT is the one that the PSBT became. Signed, every
 * input of a depository must carry the PSBT's own signature at the same place; unsigned, the transaction
 * must carry an OP_RETURN output of the PSBT. @source oracle-protocol.md 5.3
 */
export function judgeSpender(
  { psbt, allocatorInputs }: Pick<WithdrawalTerms, 'psbt' | 'allocatorInputs'>,
  spender: BitcoinTransaction,
): SpenderVerdict {
  const inputs = allocatorInputs.flatMap((index) => psbt.inputs[index] ?? [])
  if (inputs.every(isSigned)) {
    const isSame = allocatorInputs.every((index) => {
      const [wanted, found] = [psbt.inputs[index], spender.inputs[index]]
      return wanted !== undefined && found !== undefined && carriesSignature(wanted, found)
    })
    return isSame ? ownOrForeign(psbt, spender) : 'expired'
  }
  const marks = psbt.transaction.outputs.filter(({ script }) => isOpReturn(script))
  if (marks.length === 0) return 'unsupported'
  const isMarked = marks.some((mark) =>
    spender.outputs.some(({ script }) => Buffer.compare(script, mark.script) === 0),
  )
  return isMarked ? ownOrForeign(psbt, spender) : 'expired'
}

/** Whoever copies what is on the chain into a PSBT of his own names amount and recipient as he likes. */
function ownOrForeign({ transaction }: BitcoinWithdrawal, spender: BitcoinTransaction): SpenderVerdict {
  return unsignedId(spender) === unsignedId(transaction) ? 'executed' : 'foreign'
}

/** What a transaction does, whoever signed it. */
function unsignedId({ inputs, ...rest }: BitcoinTransaction): string {
  const unsigned = inputs.map((input) => ({ ...input, scriptSig: new Uint8Array() }))
  return bitcoinTransactionId({ ...rest, inputs: unsigned })
}

type WithdrawalInput = BitcoinWithdrawal['inputs'][number]

function isSigned({ partialSignatures, taprootSignature }: WithdrawalInput): boolean {
  return partialSignatures.length > 0 || taprootSignature !== undefined
}

/** The same output, unlocked with a signature of the PSBT: a signature commits to its transaction. */
function carriesSignature(wanted: WithdrawalInput, found: BitcoinInput): boolean {
  if (wanted.txid !== found.txid || wanted.vout !== found.vout) return false
  const pushed = [...found.witness, ...pushesOf(found.scriptSig)]
  const holds = (bytes: Uint8Array) => pushed.some((one) => Buffer.compare(one, bytes) === 0)
  if (wanted.taprootSignature !== undefined && holds(wanted.taprootSignature)) return true
  // The key stands beside the signature, or inside the script of a multisignature, which comes last.
  const script = Buffer.from(pushed.at(-1) ?? [])
  return wanted.partialSignatures.some(
    ({ signature, publicKey }) =>
      holds(signature) && (holds(publicKey) || script.includes(Buffer.from(publicKey))),
  )
}

const pushData = { one: 0x4c, two: 0x4d }

/** The data that a script pushes; what follows an opcode that pushes none is left out. */
function pushesOf(script: Uint8Array): readonly Uint8Array[] {
  const pushes: Uint8Array[] = []
  let offset = 0
  while (offset < script.length) {
    const opcode = script[offset] ?? 0
    const isLong = opcode === pushData.one || opcode === pushData.two
    if (opcode > pushData.two) break
    const header = opcode === pushData.two ? 3 : isLong ? 2 : 1
    const low = script[offset + 1] ?? 0
    const length = opcode === pushData.two ? low + 256 * (script[offset + 2] ?? 0) : isLong ? low : opcode
    offset += header
    pushes.push(script.subarray(offset, offset + length))
    offset += length
  }
  return pushes
}
