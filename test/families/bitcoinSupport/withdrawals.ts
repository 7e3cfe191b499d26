import type { Hex } from '@causeway/core'
import { regtest, type TestKey } from '@causeway/localnet/standIns/bitcoin'
import { Psbt, type Transaction } from 'bitcoinjs-lib'
import { type Output, saying, user } from './transactions.ts'

/** An output of a depository or of somebody else, and how it is unlocked. */
export type Spendable = {
  readonly from: Transaction
  readonly vout: number
  readonly key: TestKey
  readonly kind: 'legacy' | 'witness'
}

export type PsbtOptions = {
  readonly inputs: readonly Spendable[]
  /** Positions that are signed; all by default. */
  readonly signed?: readonly number[]
  readonly mark?: string | undefined
}

/** Satoshi per byte that the allocator takes a transaction to have. */
const feeRate = 5n

/** A PSBT of the library that wallets use, with real signatures. */
export function psbtOf({ inputs, signed, mark }: PsbtOptions): Psbt {
  const psbt = new Psbt({ network: regtest })
  for (const { from, vout, kind } of inputs) {
    const output = from.outs[vout]
    if (output === undefined) throw new Error('no such output')
    const { script, value } = output
    const proof = kind === 'legacy' ? { nonWitnessUtxo: from.toBuffer() } : { witnessUtxo: { script, value } }
    psbt.addInput({ hash: from.getId(), index: vout, ...proof })
  }
  const outputCount = mark === undefined ? 1n : 2n
  const fee = feeRate * (148n * BigInt(inputs.length) + 34n * outputCount + 10n)
  const held = inputs.reduce((sum, { from, vout }) => sum + (from.outs[vout]?.value ?? 0n), 0n)
  psbt.addOutput({ script: user.witness.script, value: held - fee })
  if (mark !== undefined) psbt.addOutput(saying(mark))
  for (const [index, { key }] of inputs.entries()) {
    if (signed?.includes(index) ?? true) psbt.signInput(index, key.signer)
  }
  return psbt
}

export function withdrawalOf(psbt: Psbt): Hex {
  return `0x${Buffer.from(psbt.toBuffer()).toString('hex')}`
}

/** The transaction that the PSBT becomes: every input signed and finalised. */
export function executed(psbt: Psbt, inputs: readonly Spendable[]): Transaction {
  const whole = Psbt.fromBuffer(psbt.toBuffer(), { network: regtest })
  for (const [index, { key }] of inputs.entries()) {
    if (whole.data.inputs[index]?.partialSig === undefined) whole.signInput(index, key.signer)
  }
  return whole.finalizeAllInputs().extractTransaction(true)
}

/** Another transaction that spends the same outputs, signed by the same keys. */
export function elsewhere(inputs: readonly Spendable[], outputs: readonly Output[]): Transaction {
  const psbt = new Psbt({ network: regtest })
  for (const { from, vout } of inputs) {
    psbt.addInput({ hash: from.getId(), index: vout, nonWitnessUtxo: from.toBuffer() })
  }
  for (const output of outputs) psbt.addOutput(output)
  return executed(psbt, inputs)
}
