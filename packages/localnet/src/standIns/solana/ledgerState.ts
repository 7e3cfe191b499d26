import { AddressLookupTableAccount, PublicKey, type VersionedTransaction } from '@solana/web3.js'
import { Clock, FailedTransactionMetadata, type LiteSVM, type TransactionMetadata } from 'litesvm'

import { describeError } from './storedTransaction.ts'
import type { WireTransaction } from './wireTransaction.ts'

/** One account as the runtime holds it. */
export type AccountState = {
  readonly lamports: bigint
  readonly owner: string
  readonly data: Uint8Array
  readonly executable: boolean
}

export type TokenState = { readonly mint: string; readonly owner: string; readonly program: string } & {
  readonly amount: bigint
  readonly decimals: number
}

const tokenPrograms: ReadonlySet<string> = new Set([
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
])

/** The runtime's types of a key, an amount and a transaction: branded by another library, plain values behind. */
type RuntimeAddress = Parameters<LiteSVM['getAccount']>[0]
type RuntimeLamports = Parameters<LiteSVM['setAccount']>[0]['lamports']
type RuntimeTransaction = Parameters<LiteSVM['sendTransaction']>[0]

/** A key as the runtime takes it. @throws Error when it is not 32 bytes of base58 */
export function addressOf(key: string): RuntimeAddress {
  // CAST: the runtime brands its texts, and this one was read as a key.
  return new PublicKey(key).toBase58() as RuntimeAddress
}

/** The transaction as the runtime takes it: it writes the same bytes again. */
function transactionOf({ transaction, messageBytes }: WireTransaction): RuntimeTransaction {
  const { signatures, message } = transaction
  const signed = signatures.map((signature, index) => [
    message.staticAccountKeys[index]?.toBase58() ?? '',
    signature,
  ])
  // CAST: the runtime brands what it takes; its encoder writes these two members.
  return { messageBytes, signatures: Object.fromEntries(signed) } as unknown as RuntimeTransaction
}

export function readAccount(svm: LiteSVM, key: string): AccountState | undefined {
  const account = svm.getAccount(addressOf(key))
  if (!account.exists) return undefined
  const { lamports, programAddress, data, executable } = account
  return { lamports, owner: programAddress, data: new Uint8Array(data), executable }
}

/** State of a token account; `undefined` for every other account. @source SPL Token, Account and Mint */
export function readTokenAccount(svm: LiteSVM, account: AccountState): TokenState | undefined {
  if (!tokenPrograms.has(account.owner) || account.data.length < 165) return undefined
  // 165 bytes are an account of either program; a longer one names its type behind them, and 2 is an account.
  const isAccount = account.data.length === 165 || account.data[165] === 2
  const data = Buffer.from(account.data)
  // Byte 108 is the state; 0 stands for an account that is not initialised.
  if (!isAccount || data[108] === 0) return undefined
  const keyAt = (offset: number) => new PublicKey(data.subarray(offset, offset + 32)).toBase58()
  const mint = keyAt(0)
  // Byte 44 of a mint.
  const decimals = readAccount(svm, mint)?.data[44] ?? 0
  return { mint, owner: keyAt(32), program: account.owner, amount: data.readBigUInt64LE(64), decimals }
}

/** Addresses that a transaction takes from lookup tables. */
export type Loaded = { readonly writable: readonly string[]; readonly readonly: readonly string[] }

/** Reads the addresses that a message takes from lookup tables. @throws Error when a table lacks one */
export function loadAddresses(svm: LiteSVM, { message }: VersionedTransaction): Loaded {
  const tables = message.addressTableLookups.map(({ accountKey, writableIndexes, readonlyIndexes }) => {
    const account = readAccount(svm, accountKey.toBase58())
    const { addresses } = AddressLookupTableAccount.deserialize(account?.data ?? new Uint8Array())
    const keyOf = (index: number) => {
      const address = addresses[index]
      if (address === undefined) throw new Error('the lookup table has no such address')
      return address.toBase58()
    }
    return { writable: writableIndexes.map(keyOf), readonly: readonlyIndexes.map(keyOf) }
  })
  return {
    writable: tables.flatMap(({ writable }) => writable),
    readonly: tables.flatMap(({ readonly }) => readonly),
  }
}

export function execute(
  svm: LiteSVM,
  wire: WireTransaction,
): TransactionMetadata | FailedTransactionMetadata {
  return svm.sendTransaction(transactionOf(wire))
}

/** A node's preflight check before it forwards a transaction. @returns the failure, if it would fail */
export function simulate(svm: LiteSVM, wire: WireTransaction): FailedTransactionMetadata | undefined {
  const result = svm.simulateTransaction(transactionOf(wire))
  return result instanceof FailedTransactionMetadata ? result : undefined
}

/** Simulates a transaction without a check of its signatures. */
export function simulateUnsigned(
  svm: LiteSVM,
  wire: WireTransaction,
): { readonly error: unknown; readonly logs: readonly string[]; readonly units: bigint } {
  svm.withSigverify(false)
  try {
    const result = svm.simulateTransaction(transactionOf(wire))
    const meta = result.meta()
    return {
      error: result instanceof FailedTransactionMetadata ? describeError(result) : null,
      logs: meta.logs(),
      units: meta.computeUnitsConsumed(),
    }
  } finally {
    svm.withSigverify(true)
  }
}

export function setClock(svm: LiteSVM, slot: bigint, timeSeconds: bigint): void {
  const { epoch, epochStartTimestamp, leaderScheduleEpoch } = svm.getClock()
  svm.setClock(new Clock(slot, epochStartTimestamp, epoch, leaderScheduleEpoch, timeSeconds))
}

/** Moves to a new block: its slot, its time and a fresh blockhash. @returns the blockhash */
export function enterBlock(svm: LiteSVM, slot: bigint, timeSeconds: bigint): string {
  setClock(svm, slot, timeSeconds)
  svm.expireBlockhash()
  const hash = svm.latestBlockhash()
  // Whoever creates a lookup table names a recent slot, and the runtime looks for it here.
  svm.setSlotHashes([{ slot, hash }, ...svm.getSlotHashes()].slice(0, 64))
  return hash
}

/** Makes an account with data that a program owns, from nothing; its lamports are the rent exemption. */
export function placeAccount(
  svm: LiteSVM,
  key: string,
  { owner, data }: Pick<AccountState, 'owner' | 'data'>,
): void {
  svm.setAccount({
    address: addressOf(key),
    // CAST: the runtime brands its sums.
    lamports: svm.minimumBalanceForRentExemption(BigInt(data.length)) as RuntimeLamports,
    programAddress: addressOf(owner),
    data,
    executable: false,
    space: BigInt(data.length),
  })
}

/** Adds lamports to an account, from nothing. */
export function addLamports(svm: LiteSVM, key: string, amount: bigint): void {
  const account = readAccount(svm, key)
  svm.setAccount({
    address: addressOf(key),
    // CAST: the runtime brands its sums.
    lamports: ((account?.lamports ?? 0n) + amount) as RuntimeLamports,
    // The system program owns a new account.
    programAddress: addressOf(account?.owner ?? '1'.repeat(32)),
    data: account?.data ?? new Uint8Array(),
    executable: account?.executable ?? false,
    space: BigInt(account?.data.length ?? 0),
  })
}
