// Bitcoin's serialisation, put together piece by piece, so that each piece can be written wrongly.

/** Little-endian hex digits. */
export function little(value: bigint | number, byteCount: number): string {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes.subarray(0, byteCount).toString('hex')
}

/** A length in its shortest form. */
function shortest(value: number): string {
  if (value < 0xfd) return little(value, 1)
  return value <= 0xffff ? `fd${little(value, 2)}` : `fe${little(value, 4)}`
}

/** Longer encodings of the same length, which nodes refuse. */
export const longer = {
  'two bytes': (value: number) => `fd${little(value, 2)}`,
  'four bytes': (value: number) => `fe${little(value, 4)}`,
  'eight bytes': (value: number) => `ff${little(value, 8)}`,
} as const

/** `digits` behind the number of their bytes. */
export function sized(digits: string, length = shortest): string {
  return `${length(digits.length / 2)}${digits}`
}

type InputParts = { readonly txid?: string; readonly vout?: number; readonly script?: string }

/** @param parts.script with its length */
export function inputDigits({ txid = '22'.repeat(32), vout = 3, script = '00' }: InputParts = {}): string {
  return `${Buffer.from(txid, 'hex').reverse().toString('hex')}${little(vout, 4)}${script}ffffffff`
}

/** @param script with its length */
export function outputDigits(value: bigint, script = sized('51')): string {
  return `${little(value, 8)}${script}`
}

type TransactionParts = {
  readonly version?: string
  /** Bytes between the version and the inputs. */
  readonly flag?: string
  readonly inputs?: readonly string[]
  readonly inputCount?: string
  readonly outputs?: readonly string[]
  readonly outputCount?: string
  /** Bytes between the outputs and the lock time. */
  readonly witnesses?: string
  readonly tail?: string
}

/** A transaction of one input and one output unless told otherwise. */
export function transactionDigits(parts: TransactionParts = {}): string {
  const { inputs = [inputDigits()], outputs = [outputDigits(9n)] } = parts
  const { version = '01000000', flag = '', witnesses = '', tail = '' } = parts
  const { inputCount = shortest(inputs.length), outputCount = shortest(outputs.length) } = parts
  return [
    ...[version, flag, inputCount, ...inputs],
    ...[outputCount, ...outputs, witnesses, '00000000', tail],
  ].join('')
}

/** One entry of a map: its key and its value behind their lengths. */
export function entry(key: string, value: string, length = shortest): string {
  return `${sized(key)}${sized(value, length)}`
}

type PsbtParts = {
  readonly magic?: string
  readonly transaction?: string
  /** Replaces the entry of the transaction. */
  readonly global?: readonly string[]
  /** Entries of the one input. */
  readonly input?: readonly string[]
  /** Entries of the one output. */
  readonly output?: readonly string[]
  readonly tail?: string
}

/** Output that a PSBT's one input spends by default: 10 satoshi of OP_1. */
export const spentEntry = entry('01', outputDigits(10n))

/** A PSBT of version 0 with one input and one output, which pays 9 of its 10 satoshi. */
export function psbtDigits(parts: PsbtParts = {}): string {
  const { magic = '70736274ff', transaction = transactionDigits(), tail = '' } = parts
  const { global = [entry('00', transaction)], input = [spentEntry], output = [] } = parts
  return [magic, ...global, '00', ...input, '00', ...output, '00', tail].join('')
}
