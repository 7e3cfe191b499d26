import { readScript, type ScriptForm } from '../script.ts'

/** Spending type of an output: by one key, or by the sweeper of a deposit address. */
export type InputKind = 'public-key-hash' | 'wrapped-witness' | 'witness' | 'taproot' | 'deposit-address'

/** Bytes of the script of a deposit address: `depositScript` in `depositAddress.ts`. */
export const depositScriptBytes = 68

/**
 * Weight units of one signed input: its bytes count four times, those of its witness once. Beside the
 * outpoint they are the script with its length byte (wrapped: a push of 22 bytes), and the witness: a count
 * of its items, a signature of 72 bytes, the usual maximum (taproot: 64), and a key of 33, each with its
 * length. Without a witness the script pushes signature and key. @source BIP 141, BIP 340
 */
const inputWeights: Readonly<Record<InputKind, number>> = {
  'public-key-hash': 4 * (outPointBytes() + 1 + 107),
  'wrapped-witness': 4 * (outPointBytes() + 1 + 23) + 108,
  witness: 4 * (outPointBytes() + 1) + 108,
  taproot: 4 * (outPointBytes() + 1) + 66,
  // Count of items, a signature, the sweeper's branch and the script; each item has its length before it.
  'deposit-address': 4 * (outPointBytes() + 1) + 1 + 73 + 2 + 1 + depositScriptBytes,
}

/** Transaction id, index and sequence. */
function outPointBytes(): number {
  return 32 + 4 + 4
}

/**
 * Spending type of a script that one key can spend; undefined for scripts that need several keys, or none. A script
 * hash counts as a wrapped witness program, the only kind behind one that a single key spends today.
 */
export function inputKindOf(script: Uint8Array): InputKind | undefined {
  const form = readScript(script)
  return form === undefined ? undefined : kindOf(form)
}

function kindOf(form: ScriptForm): InputKind | undefined {
  switch (form.kind) {
    case 'public-key-hash':
      return 'public-key-hash'
    case 'script-hash':
      return 'wrapped-witness'
    case 'witness':
      if (form.version === 0) return form.program.length === 20 ? 'witness' : undefined
      return form.version === 1 && form.program.length === 32 ? 'taproot' : undefined
  }
}

/**
 * True if a PSBT must show the transaction that made the spent output: signers compute the fee from its values, and
 * stated values may be a lie. Taproot signatures cover the values. @source F-96; BIP 174, BIP 341
 */
export function showsTransaction(kind: InputKind | undefined): boolean {
  return kind !== 'taproot'
}

/** Parts of a transaction that decide its size. */
export type TransactionShape = {
  readonly inputs: readonly InputKind[]
  /** Scripts. */
  readonly outputs: readonly Uint8Array[]
}

/** Upper bound of the signed transaction's virtual bytes, by which fees are charged. */
export function virtualBytesOf({ inputs, outputs }: TransactionShape): number {
  const hasWitness = inputs.some((kind) => kind !== 'public-key-hash')
  const versionAndLockTime = 8
  const plain = versionAndLockTime + countBytes(inputs.length) + countBytes(outputs.length)
  const paid = outputs.reduce((sum, script) => sum + outputBytes(script), 0)
  const spent = inputs.reduce((sum, kind) => sum + inputWeights[kind], 0)
  // Marker and flag, and an empty witness for each input that has none.
  const marked = hasWitness ? 2 + inputs.filter((kind) => kind === 'public-key-hash').length : 0
  return Math.ceil((4 * (plain + paid) + spent + marked) / 4)
}

const valueBytes = 8

function outputBytes(script: Uint8Array): number {
  return valueBytes + countBytes(script.length) + script.length
}

/** Bytes of the count or length that precedes a list. */
const countBytes = (count: number): number => (count < 0xfd ? 1 : 3)

/** Satoshi per 1,000 virtual bytes by which nodes judge dust. @source Bitcoin Core, `policy/policy.h` */
const dustSatPerKvb = 3_000

/**
 * The least that nodes relay to a script: what it costs to make the output and to spend it again at 3 sat/vB.
 * @source Bitcoin Core, `policy/policy.cpp`, `GetDustThreshold`
 */
export function dustOf(script: Uint8Array): bigint {
  // A later input: 41 bytes without witness, and a signature and key of 107 bytes or a quarter of them.
  const spendingBytes = readScript(script)?.kind === 'witness' ? 67 : 148
  return BigInt(Math.ceil(((outputBytes(script) + spendingBytes) * dustSatPerKvb) / 1_000))
}

/** Dust limit in satoshi that suffices for every kind of script with an address. */
export const dustMax = 546n
