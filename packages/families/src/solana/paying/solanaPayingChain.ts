import {
  bytesToHex,
  encodeBase58,
  type Hex,
  hexToBytes,
  minBigint,
  UpstreamUnavailableError,
} from '@causeway/core'
import { solanaCodec } from '@causeway/core/encodings'
import type { ChainClient, RpcAnswer } from '@causeway/rpc'
import { NodeError, unlessUnreadable } from '@causeway/rpc'
import type { VersionedTransaction } from '@solana/web3.js'
import type {
  PayingChain,
  PayingChainFamily,
  PayingChainOptions,
  PayingFees,
  PaymentTerms,
  SentTransaction,
  SignedPlan,
} from '../../shared/payingChain.ts'
import { askLanding, askPaymentVotes } from '../../shared/paymentVotes.ts'
import { readTokenMint, refusalOfHolder, tokenAmountOf, tokenHolderOf } from '../quoting/tokenMint.ts'
import { parseAccounts, type ShownAccount } from '../reading/answers.ts'
import { accountsCall, blockhashCall, sendCall, simulationCall } from '../reading/requests.ts'
import type { SolanaAddressProgram } from '../rules/depositAddress.ts'
import { solanaLibrary } from '../rules/library.ts'
import { associatedTokenAccount, deriveProgramAddresses } from '../rules/programAddresses.ts'
import { markBytes } from '../rules/programs.ts'
import { compilePayment, feeOf, markOf, type Wallet } from './compileTransaction.ts'
import {
  decideHead,
  decideLanding,
  decideMark,
  decideRun,
  headCalls,
  landingCalls,
  markCalls,
} from './finalMarks.ts'
import { parseBlockhash, type RecentBlockhash } from './payingAnswers.ts'
import { isCountable, lookAtAddress, lookAtPayments, type ReadAccounts } from './paymentPlan.ts'

const readTimeoutMs = 5_000
/** Most compute units of a simulation; more than any payment that fits into a transaction uses. */
const unitsMax = 1_000_000n
/** Blocks for which a blockhash is valid; the newest block is never so many above the newest final one. */
const blockhashBlocks = 150n
/** Blockhash of a simulation: the node replaces it. */
const anyBlockhash = '1'.repeat(32)

/** Payments by transactions of one wallet, each of which creates a marker on chain. See decision 27. */
export const solanaPaying: PayingChainFamily = {
  // A file in its place is named by ED25519_PRIVATE_KEY_FILE.
  keySetting: 'ED25519_PRIVATE_KEY',
  open: openSolanaPaying,
  // A blockhash is valid for a minute; the rest is the time until its last block is final.
  landsWithinSeconds: 90,
}

function openSolanaPaying({ client, key, addressProgram }: PayingChainOptions): PayingChain {
  // CAST: the form of a key was checked when its setting was read.
  const keypair = solanaLibrary().Keypair.fromSeed(hexToBytes(key.reveal() as `0x${string}`))
  return new SolanaPayer(client, {
    keypair,
    addressProgram: addressProgram && openAddressProgram(addressProgram),
  })
}

/**
 * Pays by transactions of one wallet; each creates a marker, so that at most one per payment id can succeed.
 * So nothing is paid twice, whatever single endpoints say about blockhashes, heights and landings.
 */
class SolanaPayer implements PayingChain {
  readonly address: string
  readonly #client: ChainClient
  readonly #wallet: Wallet
  /** Number of transactions that were signed: it decides whose blockhash is next. */
  #signed = 0

  constructor(client: ChainClient, wallet: Wallet) {
    this.address = wallet.keypair.publicKey.toBase58()
    this.#client = client
    this.#wallet = wallet
  }

  head() {
    return askPaymentVotes(this.#client, headCalls(), decideHead)
  }

  readFinal(id: Hex) {
    return askPaymentVotes(this.#client, markCalls(this.address, id), decideMark)
  }

  landingOf(transactions: readonly SentTransaction[]) {
    const hashes = transactions.map(({ hash }) => hash)
    return askLanding(this.#client, landingCalls(hashes), (votes, electorate) =>
      decideLanding(votes, hashes, electorate),
    )
  }

  /**
   * Checks the payment by agreed accounts, has nodes simulate it with the most units that any payment uses,
   * and plans the units that enough of them reach, with a margin. No code of recipients runs, so no other
   * bound applies.
   */
  async plan(terms: PaymentTerms, bid: PayingFees) {
    const { emptied } = terms
    const { addressProgram } = this.#wallet
    const readAccounts: ReadAccounts = (addresses, added) => agreedAccounts(this.#client, addresses, added)
    const lookup =
      emptied === undefined
        ? await lookAtPayments(this.address, terms.payments, readAccounts)
        : await lookAtAddress(this.address, { emptied, addressProgram }, readAccounts)
    if ('refusal' in lookup) return lookup
    if (terms.makesNoState === true && lookup.stateBytes.length > 0)
      return { refusal: 'the recipient has no account of the token' }
    const planned: PaymentTerms = {
      ...terms,
      payments: lookup.payments,
      ...(lookup.emptied !== undefined && { emptied: lookup.emptied }),
    }
    const trial = compilePayment(this.#wallet, planned, { ...bid, units: unitsMax }, anyBlockhash)
    if (trial === undefined) return { refusal: 'the transaction is too large' }
    const units = await askPaymentVotes(this.#client, [simulationCall(toBase64(trial))], decideRun)
    if (units === 'fails') return { refusal: 'the transaction would revert' }
    const rents = [markBytes[markOf(terms)], ...lookup.stateBytes].map((stateBytes) =>
      bid.fees.rentOf({ stateBytes }),
    )
    const rent = rents.reduce((sum, lamports) => sum + lamports, 0n)
    return { terms: planned, units: withMargin(units), rent }
  }

  async sign({ terms, units }: SignedPlan, bid: PayingFees) {
    const [{ finalHeight }, blockhashes] = await Promise.all([this.head(), recentBlockhashes(this.#client)])
    // Each blockhash and its last height are one endpoint's word. Expired ones are useless, and no true one
    // ends more than two lifetimes above the newest final block: a longer one would keep the record waiting.
    const usable = blockhashes.filter(
      ({ lastValidHeight }) =>
        lastValidHeight > finalHeight && lastValidHeight <= finalHeight + 2n * blockhashBlocks,
    )
    // Endpoints take turns: one that invents a blockhash then costs only some transactions their lifetime.
    const recent = usable[this.#signed % Math.max(1, usable.length)]
    this.#signed += 1
    if (recent === undefined) throw new UpstreamUnavailableError('No endpoint names a recent block.')
    const transaction = compilePayment(this.#wallet, terms, { ...bid, units }, recent.blockhash)
    if (transaction === undefined) throw new Error('a planned transaction is too large')
    transaction.sign([this.#wallet.keypair])
    return {
      raw: bytesToHex(transaction.serialize()),
      hash: encodeBase58(transaction.signatures[0] ?? new Uint8Array()),
      lastValidHeight: recent.lastValidHeight,
      fee: feeOf(units, bid),
    }
  }

  async broadcast({ raw }: { readonly raw: Hex }): Promise<void> {
    const encoded = Buffer.from(hexToBytes(raw)).toString('base64')
    const answers = await this.#client.askEach([sendCall(encoded)], { timeoutMs: readTimeoutMs })
    const outcomes = answers.flatMap(({ answers: [answer] = [] }) => (answer === undefined ? [] : [answer]))
    if (outcomes.some((answer) => answer.ok || isHarmless(answer.message))) return
    const refusal = outcomes.find((answer) => !answer.ok)
    if (refusal !== undefined && !refusal.ok) throw new NodeError(refusal)
    throw new UpstreamUnavailableError('No endpoint took the transaction.')
  }

  async balanceOf(currency: string): Promise<bigint> {
    if (currency === solanaCodec.nativeCurrency) return (await this.#account(this.address))?.lamports ?? 0n
    const mint = await this.#account(currency)
    const tokenMint = mint && readTokenMint(mint.owner, mint.data)
    if (tokenMint === undefined) return 0n
    const token = { mint: currency, tokenProgram: tokenMint.program }
    const held = await this.#account(associatedTokenAccount(this.address, token))
    return held?.owner === tokenMint.program ? tokenAmountOf(held) : 0n
  }

  async #account(address: string): Promise<ShownAccount | undefined> {
    const [answer] = await this.#client.batch([accountsCall([address])], { timeoutMs: readTimeoutMs })
    return parseAccounts(answer, 1)[0]
  }
}

/**
 * Accounts on whose comparable parts enough endpoints agree, also on whether each can be counted with the lamports that are
 * `added`; balances and supplies change from slot to slot, and are the word of one of these endpoints.
 */
async function agreedAccounts(
  client: ChainClient,
  addresses: readonly string[],
  added: ReadonlyMap<string, bigint> = new Map(),
) {
  const { answers } = await client.agree([accountsCall(addresses)], {
    timeoutMs: readTimeoutMs,
    project: ([answer]) => comparableAccounts(answer, addresses, added),
  })
  const accounts = parseAccounts(answers[0], addresses.length)
  return new Map(addresses.map((address, index) => [address, accounts[index]]))
}

/** The parts of an answer that do not change with slots. @throws MalformedAnswerError */
function comparableAccounts(
  answer: RpcAnswer | undefined,
  addresses: readonly string[],
  added: ReadonlyMap<string, bigint>,
): unknown {
  return parseAccounts(answer, addresses.length).map((account, index) =>
    account === undefined
      ? null
      : {
          owner: account.owner,
          isExecutable: account.isExecutable,
          isCountable: isCountable(account, added.get(addresses[index] ?? '')),
          mint: readTokenMint(account.owner, account.data) ?? null,
          ...comparableHolder(account),
        },
  )
}

/** The holder of a token account, and why it can receive nothing now. @throws MalformedAnswerError */
function comparableHolder(account: ShownAccount): object {
  const holder = tokenHolderOf(account)
  return holder === undefined ? {} : { holder, refusal: refusalOfHolder(account, holder) ?? null }
}

function openAddressProgram({
  program,
  depository,
}: NonNullable<PayingChainOptions['addressProgram']>): SolanaAddressProgram {
  return { program, depository: { program: depository, addresses: deriveProgramAddresses(depository) } }
}

/** Units with a margin: the cluster may use more than the simulating node, because accounts change meanwhile. */
const withMargin = (units: bigint): bigint => minBigint((units * 13n) / 10n + 10_000n, unitsMax)

/** One blockhash of each endpoint that answers. */
async function recentBlockhashes(client: ChainClient): Promise<readonly RecentBlockhash[]> {
  const answers = await client.askEach([blockhashCall()], { timeoutMs: readTimeoutMs })
  return answers.flatMap(({ answers: [answer] = [] }) => unlessUnreadable(() => parseBlockhash(answer)) ?? [])
}

/**
 * True for the error of a node that has the transaction already, or that does not know its blockhash: whether that is
 * expired is decided by the block height.
 */
const isHarmless = (message: string): boolean =>
  /already (been )?processed|AlreadyProcessed|blockhash ?not ?found/i.test(message)

const toBase64 = (transaction: VersionedTransaction) =>
  Buffer.from(transaction.serialize()).toString('base64')
