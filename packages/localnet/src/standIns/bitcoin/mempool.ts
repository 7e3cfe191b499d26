import { secp256k1 } from '@noble/curves/secp256k1'
import { crypto, payments, script, type Transaction } from 'bitcoinjs-lib'

/** An output; `value` in satoshi. */
export type Coin = { readonly script: Uint8Array; readonly value: bigint }
type Spent = { readonly txid: string; readonly vout: number }

/** Questions of the mempool to its chain, which has no rules of its own. */
export type ChainCoins = {
  /** An output in a block that no block has spent. */
  confirmed(spent: Spent): Coin | undefined
  isMined(txid: string): boolean
}

/** Least fee of a transaction, and least increase of the fee by a replacement. */
const incrementalSatPerVb = 1n
/** Most waiting transactions that a replacement may remove. */
const evictedMax = 100
/** Most waiting ancestors, with the transaction itself. */
const unminedMax = 25

/**
 * The rules by which nodes take transactions, as far as a wallet depends on them: outputs that are there and unspent,
 * signatures of P2WPKH, no money from nothing, replacement by BIP 125, chains of 25. Words are Bitcoin Core's.
 */
export class Mempool {
  readonly #waiting = new Map<string, Transaction>()
  readonly #chain: ChainCoins

  constructor(chain: ChainCoins) {
    this.#chain = chain
  }

  /** In the order in which a block can take them. */
  all(): readonly Transaction[] {
    return [...this.#waiting.values()]
  }
  get(txid: string): Transaction | undefined {
    return this.#waiting.get(txid)
  }
  /** Adds a transaction without any rule. */
  put(transaction: Transaction): void {
    this.#waiting.set(transaction.getId(), transaction)
  }
  clear(): void {
    this.#waiting.clear()
  }
  /** Removes a mined transaction, and those that spend the same outputs, which can never be mined. */
  mined(transaction: Transaction): void {
    this.#waiting.delete(transaction.getId())
    for (const other of this.#conflicts(transaction)) this.#evict(other)
  }

  /** Adds a transaction by the rules. @returns why nodes would refuse it, by the first rule that it breaks */
  offer(transaction: Transaction): string | undefined {
    const txid = transaction.getId()
    if (this.#chain.isMined(txid)) return 'Transaction outputs already in utxo set'
    if (this.#waiting.has(txid)) return 'txn-already-in-mempool'
    const coins = transaction.ins.map((input) => this.#coin(spentOf(input)))
    if (coins.some((coin) => coin === undefined)) return 'bad-txns-inputs-missingorspent'
    const knownCoins = coins.flatMap((coin) => (coin === undefined ? [] : [coin]))
    if (!knownCoins.every((coin, index) => isSigned(transaction, index, coin)))
      return 'mandatory-script-verify-flag-failed'
    const fee = feeOf(transaction, knownCoins)
    if (fee < 0n) return 'bad-txns-in-belowout'
    const size = BigInt(transaction.virtualSize())
    if (fee < size * incrementalSatPerVb) return 'min relay fee not met'
    const conflicts = this.#conflicts(transaction)
    const evicted = [...new Set(conflicts.flatMap((one) => [one, ...this.#descendants(one)]))]
    if (evicted.length > evictedMax) return 'too many potential replacements'
    const evictedFees = evicted.reduce((sum, one) => sum + this.#fee(one), 0n)
    if (conflicts.length > 0) {
      // BIP 125: only a transaction with a lower sequence may be replaced.
      if (conflicts.some((one) => one.ins.every(({ sequence }) => sequence >= 0xffff_fffe)))
        return 'txn-mempool-conflict'
      if (fee < evictedFees + size * incrementalSatPerVb) return 'insufficient fee, rejecting replacement'
      if (conflicts.some((one) => this.#fee(one) * size >= fee * BigInt(one.virtualSize())))
        return 'insufficient fee, rejecting replacement; new feerate'
    }
    if (this.#ancestors(transaction).length >= unminedMax) return 'too-long-mempool-chain'
    for (const one of evicted) this.#waiting.delete(one.getId())
    this.#waiting.set(txid, transaction)
    return undefined
  }

  #coin(spent: Spent): Coin | undefined {
    const output = this.#waiting.get(spent.txid)?.outs[spent.vout]
    return output ?? this.#chain.confirmed(spent)
  }
  #fee(transaction: Transaction): bigint {
    const coins = transaction.ins.flatMap((input) => this.#coin(spentOf(input)) ?? [])
    return feeOf(transaction, coins)
  }
  /** Waiting transactions that spend an output that this one spends. */
  #conflicts(transaction: Transaction): readonly Transaction[] {
    const own = new Set(transaction.ins.map((input) => textOf(spentOf(input))))
    return this.all().filter(
      (one) => one !== transaction && one.ins.some((input) => own.has(textOf(spentOf(input)))),
    )
  }
  #descendants(transaction: Transaction): readonly Transaction[] {
    const txid = transaction.getId()
    const children = this.all().filter((one) => one.ins.some((input) => spentOf(input).txid === txid))
    return children.flatMap((one) => [one, ...this.#descendants(one)])
  }
  #ancestors(transaction: Transaction): readonly Transaction[] {
    const parents = transaction.ins.flatMap((input) => this.#waiting.get(spentOf(input).txid) ?? [])
    return parents.flatMap((one) => [one, ...this.#ancestors(one)])
  }
  #evict(transaction: Transaction): void {
    for (const one of [transaction, ...this.#descendants(transaction)]) this.#waiting.delete(one.getId())
  }
}

const spentOf = ({ hash, index }: Transaction['ins'][number]): Spent => ({
  // Ids show a hash in reversed byte order.
  txid: Buffer.from(hash).reverse().toString('hex'),
  vout: index,
})
const textOf = ({ txid, vout }: Spent): string => `${txid}:${vout}`

const feeOf = (transaction: Transaction, coins: readonly Coin[]): bigint =>
  coins.reduce((sum, { value }) => sum + value, 0n) -
  transaction.outs.reduce((sum, { value }) => sum + value, 0n)

/** Checks signatures of P2WPKH and of the first path of a deposit address; all others count as signed. */
function isSigned(transaction: Transaction, index: number, coin: Coin): boolean {
  const { script: output, value } = coin
  // Behind two bytes P2WSH has a program of 32 bytes, and P2WPKH one of 20.
  if (output.length === 34 && output[0] === 0) return isSweepSigned(transaction, index, coin)
  if (output.length !== 22 || output[0] !== 0) return true
  const [signature, publicKey] = transaction.ins[index]?.witness ?? []
  if (signature === undefined || publicKey === undefined) return false
  if (Buffer.compare(crypto.hash160(publicKey), output.subarray(2)) !== 0) return false
  const code = payments.p2pkh({ pubkey: publicKey }).output
  if (code === undefined) return false
  const { signature: compact, hashType } = script.signature.decode(signature)
  return secp256k1.verify(compact, transaction.hashForWitnessV0(index, code, value, hashType), publicKey)
}

/** Checks an input of P2WSH whose witness takes the OP_IF branch of a deposit address, which one key signs. */
function isSweepSigned(transaction: Transaction, index: number, { script: output, value }: Coin): boolean {
  const [signature, branch, code, ...more] = transaction.ins[index]?.witness ?? []
  if (signature === undefined || code === undefined || more.length > 0) return true
  if (Buffer.compare(crypto.sha256(code), output.subarray(2)) !== 0) return false
  // The script of a deposit address begins with OP_IF and that key.
  const [, key] = script.decompile(code) ?? []
  if (!(key instanceof Uint8Array) || branch?.[0] !== 1) return true
  const { signature: compact, hashType } = script.signature.decode(signature)
  return secp256k1.verify(compact, transaction.hashForWitnessV0(index, code, value, hashType), key)
}
