// A user with a wallet on each side, a solver that works by hand, and stand-in oracles, around the real service over
// a Solana cluster of one and two EVM chains.
import type { Hex } from '@causeway/core'
import { createDatabase, type Database, startTestDatabase } from '@causeway/database'
import { solanaLibrary } from '@causeway/families/rules'
import { type FaultProxy, startFaultProxy } from '@causeway/localnet'
import {
  createTokenAccount,
  memo,
  tokenAccount,
  transferChecked,
  transferNative,
} from '@causeway/localnet/standIns/solana'
import { z } from 'zod'
import { quoteResponseSchema } from '../../apps/quote-api/src/http/wire/quoteResponse.ts'
import {
  postPatiently,
  type QuoteAnswer,
  readOk,
} from '../../apps/quote-api/test/serviceSupport/callService.ts'
import { currencyAddress, userOf } from '../../apps/quote-api/test/serviceSupport/localRequest.ts'
import {
  createRequestDriver,
  type RequestDriver,
} from '../../apps/quote-api/test/settlementSupport/requestDriver.ts'
import {
  createScriptedSolver,
  type OpenWork,
} from '../../apps/quote-api/test/settlementSupport/scriptedSolver.ts'
import {
  type StandInOracles,
  serviceSettings,
  solverKey,
  startStandInOracles,
} from '../../apps/quote-api/test/settlementSupport/settlementBed.ts'
import type { TestSponsor } from '../../apps/quote-api/test/sponsorSupport/sponsors.ts'
import type { SendOptions, SolanaBed } from '../families/solanaSupport/startSolanaBed.ts'
import {
  type SolanaService,
  type SolanaServiceChange,
  sol,
  solanaChainId,
  startSolanaService,
} from './solanaService.ts'

export type SolanaSettling = {
  readonly solana: SolanaService
  readonly database: Database
  readonly oracles: StandInOracles
  readonly requests: RequestDriver
  /** Before the cluster: the first may be made a liar. */
  readonly endpoints: readonly FaultProxy[]
  /** Pays on Solana; its wallet there. */
  readonly solver: SolanaBed['user']
  stop(): Promise<void>
}

export async function startSolanaSettling(
  change: Pick<SolanaServiceChange, 'moreCurrencies' | 'describe' | 'overrides' | 'tellsOfSlots'> & {
    readonly oracleKeys?: readonly Hex[]
  } = {},
): Promise<SolanaSettling> {
  const closers: (() => Promise<unknown>)[] = []
  const stop = async () => {
    for (const close of closers.reverse()) await close()
  }
  try {
    const oracles = await startStandInOracles(change.oracleKeys)
    closers.push(oracles.stop)
    const server = await startTestDatabase()
    closers.push(() => server.stop())
    const endpoints: FaultProxy[] = []
    const solana = await startSolanaService({
      ...change,
      blockTimeSeconds: 1,
      overrides: { ...serviceSettings(server.connectionString, oracles.setting), ...change.overrides },
      async endpointsOf({ url: targetUrl }) {
        endpoints.push(...(await Promise.all([1, 2, 3].map(() => startFaultProxy({ targetUrl })))))
        return endpoints.map(({ url }) => url).join(',')
      },
    })
    closers.push(async () => {
      await solana.stop()
      await Promise.all(endpoints.map((endpoint) => endpoint.stop()))
    })
    const database = createDatabase({ connectionString: server.connectionString, poolSize: 2 })
    closers.push(() => database.close())
    const { network, url } = solana
    const solver = createScriptedSolver({ network, url, apiKey: solverKey })
    const requests = createRequestDriver({ network, database, url, solver })
    return { solana, database, oracles, requests, endpoints, solver: solana.solver, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** A quote from or to Solana; `more` replaces members of the request. */
export async function quoteOver(
  { solana }: SolanaSettling,
  way: 'from' | 'to',
  more: Readonly<Record<string, unknown>> = {},
  sponsor?: TestSponsor,
): Promise<QuoteAnswer> {
  const { network, bed, url } = solana
  const evm = {
    user: userOf(network, 0).address,
    chainId: 8453,
    currency: currencyAddress(network, 'base', 'USDC'),
  }
  const svm = { user: bed.user.publicKey.toBase58(), chainId: solanaChainId, currency: bed.mint.toBase58() }
  const [origin, destination] = way === 'from' ? [svm, evm] : [evm, svm]
  const body = {
    user: origin.user,
    recipient: way === 'from' ? evm.user : bed.recipient.toBase58(),
    originChainId: origin.chainId,
    destinationChainId: destination.chainId,
    originCurrency: origin.currency,
    destinationCurrency: destination.currency,
    amount: '20000000',
    tradeType: 'EXACT_INPUT',
    ...(sponsor !== undefined && { subsidizeFees: true }),
    ...more,
  }
  const headers = sponsor === undefined ? {} : { 'x-api-key': sponsor.apiKey }
  return readOk(await postPatiently(`${url}/quote`, body, headers), quoteResponseSchema)
}

const { PublicKey, TransactionInstruction } = solanaLibrary()
type PublicKey = SolanaBed['recipient']

const stepData = z.object({
  instructions: z.array(
    z.object({
      keys: z.array(z.object({ pubkey: z.string(), isSigner: z.boolean(), isWritable: z.boolean() })),
      programId: z.string(),
      data: z.string(),
    }),
  ),
  addressLookupTableAddresses: z.array(z.string()),
})

/** Instructions of the one step of a quote from Solana. */
export function instructionsOf({ steps }: QuoteAnswer): Parameters<SolanaBed['send']>[0] {
  const { instructions } = stepData.parse(steps[0]?.items[0]?.data)
  return instructions.map(
    ({ keys, programId, data }) =>
      new TransactionInstruction({
        programId: new PublicKey(programId),
        keys: keys.map(({ pubkey, ...role }) => ({ pubkey: new PublicKey(pubkey), ...role })),
        data: Buffer.from(data, 'hex'),
      }),
  )
}

type SolanaPayer = Pick<SolanaSettling, 'solver'> & { readonly solana: Pick<SolanaService, 'bed'> }

export type Paying = {
  /** Default: all of it. */
  readonly amount?: bigint
  /** Whose order the memo names; default: the item's. */
  readonly orderId?: string
  /** The account that is paid; default: the recipient's own. */
  readonly to?: PublicKey
  readonly version?: NonNullable<SendOptions['version']>
}

/** Payment of a solver on Solana for a fill, a refund or a claim. @returns the transaction id */
export async function payOnSolana(
  { solana: { bed }, solver: wallet }: SolanaPayer,
  item: OpenWork,
  change: Paying = {},
): Promise<string> {
  if (item.kind === 'permit' || item.kind === 'sweep' || item.kind === 'recovery')
    throw new Error(`cannot pay a ${item.kind}`)
  const [asked] = item.kind === 'fill' ? item.payload.payments : [item.payload]
  if (asked === undefined) throw new Error('nothing is to be paid')
  const from = wallet.publicKey
  const options = { signers: [wallet], ...(change.version !== undefined && { version: change.version }) }
  const amount = change.amount ?? BigInt(asked.amount)
  const recipient = new PublicKey(asked.recipient)
  const named = memo(change.orderId ?? (item.kind === 'claim' ? item.payload.claimId : item.payload.orderId))
  if (asked.currency === sol) {
    const to = (change.to ?? recipient).toBase58()
    return bed.send([transferNative({ from, to, amount }), named], options)
  }
  const mint = new PublicKey(asked.currency)
  const to = change.to ?? tokenAccount(recipient, mint)
  const payment = [
    createTokenAccount({ payer: from, owner: recipient, mint }),
    transferChecked({ from: tokenAccount(from, mint), to, authority: from, mint, amount }),
    named,
  ]
  return bed.send(payment, options)
}
