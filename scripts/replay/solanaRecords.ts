import { encodeBase58 } from '@causeway/core'
import { Connection, PublicKey, VersionedTransaction } from '@solana/web3.js'
import {
  parseBlockhash,
  parseSimulation,
  parseStatuses,
} from '../../packages/families/src/solana/paying/payingAnswers.ts'
import {
  parseBlock,
  parseListedAccount,
  parsePriorityFees,
  parseSignatures,
} from '../../packages/families/src/solana/reading/answers.ts'
import { seeTransaction } from '../../packages/families/src/solana/reading/readTransaction.ts'
import { listedForm, signedForm } from './forms.ts'
import { type Facts, has, isListOf, ok, type RecordKind, Refusal } from './outcome.ts'

/** Nobody's: only instructions of a depository are read more closely. */
const depository = 'SysvarC1ock11111111111111111111111111111111'

/** Answers of Solana's nodes, read beside @solana/web3.js. */
export const solanaRecords: readonly RecordKind[] = [
  {
    name: 'a transaction',
    form: signedForm,
    fits: ({ result }) => has(result, 'meta', 'slot', 'transaction'),
    async read({ result }) {
      const bytes = bytesOf(Object(result)['transaction'])
      if (bytes === undefined) throw new Refusal('it is in another encoding than base64')
      const transactionId = encodeBase58(signatureOf(bytes))
      const seen = await seeTransaction(ok(result), { transactionId, depository })
      if (typeof seen === 'string') throw new Refusal(seen)
      const { slot, signers, succeeded, instructions, balances } = seen
      const { innerInstructions } = Object(result)['meta']
      const inner = (Array.isArray(innerInstructions) ? innerInstructions : [])
        .flatMap((one) => Object(one)['instructions'].length)
        .reduce((sum, count) => sum + count, 0)
      const programs = instructions.slice(0, instructions.length - inner).map(({ program }) => program)
      return { slot, signers, succeeded, programs, accounts: balances.map(({ account }) => account) }
    },
    library: ({ result }) => readByLibrary(result),
  },
  {
    name: 'a block',
    fits: ({ result }) => has(result, 'blockhash', 'parentSlot'),
    read: ({ result }) => ({ hash: parseBlock(ok(result)).hash }),
    async library({ result }) {
      const {
        blockhash,
        parentSlot,
        previousBlockhash,
        blockTime = null,
        blockHeight = null,
      } = Object(result)
      const bare = { blockhash, parentSlot, previousBlockhash, blockTime, blockHeight }
      const block = await connectionTo(bare).getBlock(1, {
        transactionDetails: 'none',
        rewards: false,
        maxSupportedTransactionVersion: 0,
      })
      return { hash: block?.blockhash }
    },
  },
  accountKind('an account', (result) => (has(result, 'owner', 'lamports', 'data') ? result : undefined)),
  accountKind('an account at a slot', (result) => {
    const { value } = Object(result)
    return has(value, 'owner', 'lamports', 'data') ? value : undefined
  }),
  {
    name: 'accounts',
    fits: ({ result }) => isListOf(shownIn(result), 'owner', 'lamports', 'data'),
    read: ({ result }) => ({ accounts: listOf(shownIn(result)).map(accountFacts) }),
    library: async ({ result }) => ({
      accounts: await Promise.all(listOf(shownIn(result)).map(libraryAccount)),
    }),
  },
  {
    name: 'token accounts',
    fits: ({ result }) => isListOf(shownIn(result), 'account', 'pubkey'),
    read: ({ result }) => ({
      accounts: listOf(shownIn(result)).map((one) => accountFacts(Object(one)['account'])),
    }),
  },
  {
    name: 'no account',
    fits: ({ result }) => has(result, 'context', 'value') && shownIn(result) === null,
    read() {
      throw new Refusal('there is none')
    },
  },
  {
    name: 'listed transactions',
    form: listedForm,
    fits: ({ result }) => isListOf(result, 'signature', 'slot'),
    read: ({ result }) => ({ listed: listed(result) }),
    library: async ({ result }) => ({ listed: await listedByLibrary(result) }),
  },
  {
    name: 'a listed transaction',
    form: (result) => listedForm([result]),
    fits: ({ result }) => has(result, 'signature', 'slot'),
    read: ({ result }) => ({ listed: listed([result]) }),
    library: async ({ result }) => ({ listed: await listedByLibrary([result]) }),
  },
  {
    name: 'states of transactions',
    fits: ({ result }) => isListOf(shownIn(result), 'confirmationStatus', 'slot'),
    read: ({ result }) => ({ states: parseStatuses(ok(result), listOf(shownIn(result)).length).length }),
  },
  {
    name: 'a blockhash',
    fits: ({ result }) => has(shownIn(result), 'blockhash', 'lastValidBlockHeight'),
    read: ({ result }) => ({ ...parseBlockhash(ok(result)) }),
  },
  {
    name: 'a simulation',
    fits: ({ result }) => has(shownIn(result), 'err', 'logs', 'unitsConsumed'),
    read: ({ result }) => ({ run: parseSimulation(ok(result)) }),
  },
  {
    name: 'a priority fee',
    fits: ({ result }) => has(result, 'prioritizationFee'),
    read: ({ result }) => ({ fees: parsePriorityFees(ok([result])) }),
  },
]

const shownIn = (result: unknown): unknown => Object(result)['value']

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Bytes of `[text, "base64"]`. */
function bytesOf(value: unknown): Uint8Array | undefined {
  if (!Array.isArray(value) || value[1] !== 'base64') return undefined
  return Buffer.from(String(value[0]), 'base64')
}

/** Legacy and version 0 begin with their signatures, later versions end with them. */
function signatureOf(bytes: Uint8Array): Uint8Array {
  const [first = 0, count = 0] = bytes
  const at = first < 0x80 ? 1 : bytes.length - 64 * count
  return bytes.subarray(at, at + 64)
}

function readByLibrary(result: unknown): Facts {
  const { transaction, meta, slot } = Object(result)
  const bytes = bytesOf(transaction)
  if (bytes === undefined) throw new Error('another encoding')
  const { message } = VersionedTransaction.deserialize(bytes)
  const { writable = [], readonly = [] } = Object(meta.loadedAddresses)
  const keys = (list: readonly string[]) => list.map((key) => new PublicKey(key))
  const accounts = message
    .getAccountKeys({ accountKeysFromLookups: { writable: keys(writable), readonly: keys(readonly) } })
    .keySegments()
    .flat()
    .map((key) => key.toBase58())
  return {
    slot: BigInt(slot),
    signers: accounts.slice(0, message.header.numRequiredSignatures),
    succeeded: meta.err === null,
    programs: message.compiledInstructions.map(({ programIdIndex }) => accounts[programIdIndex]),
    accounts,
  }
}

/** An account in the encoding that services ask for. */
function accountKind(name: string, find: (result: unknown) => unknown): RecordKind {
  return {
    name,
    fits: ({ result }) => find(result) !== undefined,
    read: ({ result }) => ({ account: accountFacts(find(result)) }),
    library: async ({ result }) => ({ account: await libraryAccount(find(result)) }),
  }
}

function accountFacts(value: unknown): readonly unknown[] {
  const { data } = Object(value)
  if (bytesOf(data) === undefined) throw new Refusal('it is in another encoding than base64')
  const { owner, data: bytes, isExecutable, lamports } = parseListedAccount(value) ?? {}
  return [owner, bytes, isExecutable, lamports]
}

async function libraryAccount(value: unknown): Promise<readonly unknown[]> {
  const account = await connectionTo({ context: { slot: 1 }, value }).getAccountInfo(PublicKey.default)
  if (account === null) return []
  return [account.owner.toBase58(), account.data, account.executable, BigInt(account.lamports)]
}

const listed = (result: unknown) =>
  parseSignatures(ok(result)).map(({ transactionId, slot, succeeded, isFinal }) => [
    transactionId,
    slot,
    succeeded,
    isFinal,
  ])

async function listedByLibrary(result: unknown): Promise<readonly unknown[]> {
  const found = await connectionTo(result).getSignaturesForAddress(PublicKey.default)
  return found.map(({ signature, slot, err, confirmationStatus }) => [
    ...[signature, BigInt(slot), err === null, confirmationStatus === 'finalized'],
  ])
}

/** The library, whose node answers every question with `result`. */
function connectionTo(result: unknown): Connection {
  return new Connection('http://127.0.0.1:1', {
    disableRetryOnRateLimit: true,
    async fetch(_url, init) {
      const { id } = JSON.parse(String(init?.body))
      return new Response(JSON.stringify({ jsonrpc: '2.0', id, result }))
    },
  })
}
