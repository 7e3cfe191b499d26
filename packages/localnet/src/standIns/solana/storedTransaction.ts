import { encodeBase58 } from '@causeway/core'
import { VersionedTransaction } from '@solana/web3.js'
import type { FailedTransactionMetadata, TransactionMetadata } from 'litesvm'
import type { Loaded, TokenState } from './ledgerState.ts'

/** Balance of a token account; `accountIndex` is its position among the keys. */
export type TokenBalances = TokenState & { readonly accountIndex: number }
type Balances = { readonly lamports: readonly bigint[]; readonly tokens: readonly TokenBalances[] }

/** Later versions are numbers too. */
export type TransactionVersion = 'legacy' | number

/** An executed transaction as the node keeps it. */
export type StoredTransaction = {
  readonly bytes: Uint8Array
  readonly slot: bigint
  readonly version: TransactionVersion
  readonly loaded: Loaded
  /** In the form of JSON-RPC; null where it succeeded. */
  readonly error: unknown
  readonly inner: ReturnType<TransactionMetadata['innerInstructions']>
  readonly logs: readonly string[]
  readonly unitsConsumed: bigint
  /** Micro-lamports per compute unit. */
  readonly unitPrice: bigint
  readonly feeLamports: bigint
  /** Static and loaded keys, in the order of the balances; a writable one was locked for writing. */
  readonly keys: readonly { readonly key: string; readonly isWritable: boolean }[]
  readonly before: Balances
  readonly after: Balances
}

export type Encoding = 'base64' | 'json'

/** The result of `getTransaction`. @source Solana JSON-RPC documentation, getTransaction */
export function toTransactionResult(
  stored: StoredTransaction,
  { timeSeconds, encoding }: { readonly timeSeconds: bigint | null; readonly encoding: Encoding },
): unknown {
  return {
    slot: Number(stored.slot),
    blockTime: timeSeconds === null ? null : Number(timeSeconds),
    ...toBlockEntry(stored, encoding),
  }
}

/** A transaction as a block lists it. @source Solana JSON-RPC documentation, getBlock */
export function toBlockEntry(stored: StoredTransaction, encoding: Encoding): object {
  const { version, bytes } = stored
  return {
    version,
    transaction: encoding === 'base64' ? [Buffer.from(bytes).toString('base64'), encoding] : toJson(bytes),
    meta: toMeta(stored),
  }
}

function toJson(bytes: Uint8Array): unknown {
  const { signatures, message } = VersionedTransaction.deserialize(bytes)
  const versionFields =
    message.version === 1
      ? { transactionConfig: message.transactionConfig }
      : { addressTableLookups: message.addressTableLookups }
  return {
    signatures: signatures.map((signature) => encodeBase58(signature)),
    message: {
      header: message.header,
      accountKeys: message.staticAccountKeys.map((key) => key.toBase58()),
      recentBlockhash: message.recentBlockhash,
      instructions: message.compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
        programIdIndex,
        accounts: accountKeyIndexes,
        data: encodeBase58(data),
      })),
      ...versionFields,
    },
  }
}

function toMeta({
  error,
  inner,
  logs,
  before,
  after,
  loaded,
  unitsConsumed,
  feeLamports,
}: StoredTransaction) {
  return {
    err: error,
    status: error === null ? { Ok: null } : { Err: error },
    fee: Number(feeLamports),
    innerInstructions: inner.flatMap((instructions, index) =>
      instructions.length === 0 ? [] : [{ index, instructions: instructions.map(toInstruction) }],
    ),
    logMessages: logs,
    preBalances: before.lamports.map(Number),
    postBalances: after.lamports.map(Number),
    preTokenBalances: before.tokens.map(toTokenBalance),
    postTokenBalances: after.tokens.map(toTokenBalance),
    rewards: [],
    loadedAddresses: loaded,
    computeUnitsConsumed: Number(unitsConsumed),
  }
}

function toInstruction(inner: StoredTransaction['inner'][number][number]) {
  const instruction = inner.instruction()
  return {
    programIdIndex: instruction.programIdIndex(),
    accounts: [...instruction.accounts()],
    data: encodeBase58(instruction.data()),
    stackHeight: inner.stackHeight(),
  }
}

function toTokenBalance({ accountIndex, mint, owner, program, amount, decimals }: TokenBalances) {
  return { accountIndex, mint, owner, programId: program, uiTokenAmount: tokenAmount(amount, decimals) }
}

/** An amount as JSON-RPC shows it. `uiAmount` is rounded, and null at zero: code that uses it fails. */
export function tokenAmount(amount: bigint, decimals: number) {
  const uiAmount = Number(amount) / 10 ** decimals
  return {
    amount: amount.toString(),
    decimals,
    uiAmount: amount === 0n ? null : uiAmount,
    uiAmountString: uiAmount.toString(),
  }
}

/** The runtime's error in the form that JSON-RPC gives it. */
export function describeError(failed: FailedTransactionMetadata): unknown {
  const error = failed.err()
  if (typeof error !== 'object' || !('index' in error)) return String(error)
  // Two errors name an instruction: a failed one has a cause, a repeated one has none.
  if (!('err' in error)) return { DuplicateInstruction: error.index }
  const cause = error.err()
  return {
    InstructionError: [
      error.index,
      typeof cause === 'object' && 'code' in cause ? { Custom: cause.code } : String(cause),
    ],
  }
}
