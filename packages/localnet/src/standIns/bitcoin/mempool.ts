import { secp256k1 } from '@noble/curves/secp256k1'
import { crypto, payments, script, type Transaction } from 'bitcoinjs-lib'

export type Coin = { readonly script: Uint8Array; readonly value: bigint }
type Spent = { readonly txid: string; readonly vout: number }

/** Coins of a chain without rules of its own, which its mempool needs to have some. */
export type ChainCoins = {
  /** An output in a block that no block has spent. */
  confirmed(spent: Spent): Coin | undefined
  isMined(txid: string): boolean
}

const incrementalSatPerVb = 1n
const evictedMax = 100
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
  /** Without any rule. */
  put(transaction: Transaction): void {
    this.#waiting.set(transaction.getId(), transaction)
  }
  clear(): void {
    this.#waiting.clear()
  }
  /** A block has it: what spends the same can never be mined. */
  mined(transaction: Transaction): void {
    this.#waiting.delete(transaction.getId())
    for (const other of this.#conflicts(transaction)) this.#evict(other)
  }

  /** @returns why nodes would refuse it */
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
    const replaced = this.#conflicts(transaction)
    const evicted = [...new Set(replaced.flatMap((one) => [one, ...this.#descendants(one)]))]
    if (evicted.length > evictedMax) return 'too many potential replacements'
    const fees = evicted.reduce((sum, one) => sum + this.#fee(one), 0n)
    if (replaced.length > 0) {
      if (replaced.some((one) => one.ins.every(({ sequence }) => sequence >= 0xffff_fffe)))
        return 'txn-mempool-conflict'
      if (fee < fees + size * incrementalSatPerVb) return 'insufficient fee, rejecting replacement'
      if (replaced.some((one) => this.#fee(one) * size >= fee * BigInt(one.virtualSize())))
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
  txid: Buffer.from(hash).reverse().toString('hex'),
  vout: index,
})
const textOf = ({ txid, vout }: Spent): string => `${txid}:${vout}`

const feeOf = (transaction: Transaction, coins: readonly Coin[]): bigint =>
  coins.reduce((sum, { value }) => sum + value, 0n) -
  transaction.outs.reduce((sum, { value }) => sum + value, 0n)

/** Checks signatures of P2WPKH and of the first path of a deposit address; a real node checks the others too. */
function isSigned(transaction: Transaction, index: number, coin: Coin): boolean {
  const { script: output, value } = coin
  if (output.length === 34 && output[0] === 0) return isSwept(transaction, index, coin)
  if (output.length !== 22 || output[0] !== 0) return true
  const [signature, publicKey] = transaction.ins[index]?.witness ?? []
  if (signature === undefined || publicKey === undefined) return false
  if (Buffer.compare(crypto.hash160(publicKey), output.subarray(2)) !== 0) return false
  const code = payments.p2pkh({ pubkey: publicKey }).output
  if (code === undefined) return false
  const { signature: compact, hashType } = script.signature.decode(signature)
  return secp256k1.verify(compact, transaction.hashForWitnessV0(index, code, value, hashType), publicKey)
}

/** Checks the signature where a script requires one key behind OP_IF. Pure. */
function isSwept(transaction: Transaction, index: number, { script: output, value }: Coin): boolean {
  const [signature, way, code, ...more] = transaction.ins[index]?.witness ?? []
  if (signature === undefined || code === undefined || more.length > 0) return true
  if (Buffer.compare(crypto.sha256(code), output.subarray(2)) !== 0) return false
  const [, key] = script.decompile(code) ?? []
  if (!(key instanceof Uint8Array) || way?.[0] !== 1) return true
  const { signature: compact, hashType } = script.signature.decode(signature)
  return secp256k1.verify(compact, transaction.hashForWitnessV0(index, code, value, hashType), key)
}
