import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import {
  type ChainClient,
  connectQuotingChain,
  type PayingChain,
  type PayingFees,
  payingFamily,
  type RegisteredChain,
} from '@causeway/chains'
import { type GasBudgets, type Hex, Secret, SolanaFees, solanaCodec, solanaLibrary } from '@causeway/core'
import {
  createDatabase,
  migrate,
  startElections,
  startTestDatabase,
  type TestDatabase,
} from '@causeway/database'
import { type FaultProxy, startFaultProxy, waitUntil } from '@causeway/localnet'
import {
  type Depository,
  deployDepository,
  depositNative,
  SolanaNode,
  startRpcServer,
} from '@causeway/localnet/standIns/solana'
import { onTestFinished } from 'vitest'
import { type BudgetName, spentWithinHour } from '../../src/wallet/budgets.ts'
import type { ChainDesk } from '../../src/wallet/chainDesk.ts'
import { createExpiringDesk } from '../../src/wallet/expiringDesk.ts'
import { createRecords, type Records } from '../../src/wallet/records.ts'

export const solanaChainId = 792_703_809
export const solanaNow = 1_790_000_000
const lifetimeSeconds = 90
const walletKey: Hex = `0x${'5e'.repeat(32)}`
const migrations = fileURLToPath(new URL('../../migrations', import.meta.url))
const fees = new SolanaFees({
  ...{ lamportsPerSignature: 5_000n, microLamportsPerUnit: 1_000n, rentLamportsPerByte: 6_960n },
})

/** What giving coin back costs: its fee and its marker. */
export const solanaRefundCost = fees.costOf({ kind: 'refund', isNative: true })

/** What a solver process has on Solana, without the rest of it. */
export type SolanaProcess = {
  readonly desk: ChainDesk
  readonly paying: PayingChain
  readonly records: Records
  /** What the last hour took of a budget. */
  spent(budget: BudgetName): Promise<bigint>
  /** Nothing that was taken of a budget is of the last hour any more. */
  anHourPasses(): Promise<void>
  /** Its connections end, as those of a process that was killed. */
  kill(): Promise<void>
}

type ProcessOptions = { readonly waits?: boolean; readonly gas?: Partial<GasBudgets> }

/** A local cluster with a depository behind one endpoint that faults are put into, and a database server. */
export type SolanaBench = {
  readonly node: SolanaNode
  readonly depository: Depository
  readonly chain: RegisteredChain
  readonly proxy: FaultProxy
  readonly wallet: string
  readonly bid: PayingFees
  /** @returns connection string of an empty, migrated database */
  database(): Promise<string>
  process(databaseUrl: string, options?: ProcessOptions): Promise<SolanaProcess>
  lamports(address: string): bigint
  account(): string
  /** @returns the transaction's id */
  deposit(
    orderId: Hex,
    amount: bigint,
  ): Promise<{ readonly transactionId: string; readonly depositor: string }>
  stop(): Promise<void>
}

export async function startSolanaBench(): Promise<SolanaBench> {
  const { Keypair } = solanaLibrary()
  const node = new SolanaNode()
  const rpc = await startRpcServer(node)
  const proxy = await startFaultProxy({ targetUrl: rpc.url })
  const depository = deployDepository(node, Keypair.generate().publicKey.toBase58())
  node.airdrop(depository.addresses.vault, 10n ** 9n)
  const user = Keypair.generate()
  node.airdrop(user.publicKey.toBase58(), 10n ** 12n)
  const chain: RegisteredChain = {
    ...{ id: 'solana', vmType: 'solana-vm', network: undefined, hubChainId: '1', additionalData: {} },
    ...{ ready: true, rpcThreshold: 1, unsetVariables: [], depository: depository.program.toBase58() },
    endpoints: [new Secret(proxy.url)],
  }
  const client: ChainClient | undefined = connectQuotingChain(chain)
  if (client === undefined) throw new Error('the chain is quoted')
  const open = () => payingFamily(chain)?.open({ client, key: new Secret(walletKey) })
  const wallet = open()?.address ?? ''
  node.airdrop(wallet, 10n ** 12n)
  node.tick(BigInt(solanaNow))
  const server: TestDatabase = await startTestDatabase()

  return {
    ...{ node, depository, chain, proxy, wallet, bid: { fees, ceiling: 10_000n } },
    async database() {
      const name = `solana_${randomBytes(6).toString('hex')}`
      await server.database.query(`create database ${name}`)
      const url = new URL(server.connectionString)
      url.pathname = `/${name}`
      await migrate({ connectionString: url.toString(), directories: [{ name: 'solver', path: migrations }] })
      return url.toString()
    },
    async process(connectionString, { waits = true, gas = {} } = {}) {
      const paying = open()
      if (paying === undefined) throw new Error('the family pays')
      const [database, lockDatabase] = [
        createDatabase({ connectionString }),
        createDatabase({ connectionString, poolSize: 1 }),
      ]
      const job = `fill-wallet:${wallet}:${solanaChainId}`
      const elections = startElections({
        ...{ jobs: [job], database, lockDatabase, holder: 'test', leaseMs: 2_000 },
        ...{ onChange: () => undefined, onFailure: () => undefined },
      })
      const records = createRecords(database)
      const desk = createExpiringDesk({
        ...{ chainId: solanaChainId, paying, landsWithinSeconds: lifetimeSeconds, records },
        leadership: () => elections.leadershipOf(job),
        marketFees: () => fees,
        rules: {
          ...{ maxFeePerGasWei: 10_000n, gasPerHourWei: 10n ** 9n, refundGasPerHourWei: 10n ** 9n },
          ...{ relayGasPerHourWei: 0n, ...gas },
        },
        nowMs: () => Date.now(),
        log: () => undefined,
      })
      let isKilled = false
      const kill = async () => {
        if (isKilled) return
        isKilled = true
        await elections.close()
        await Promise.all([database.close(), lockDatabase.close()])
      }
      onTestFinished(kill)
      if (waits) await waitUntil('the lease is won', () => desk.leads())
      return {
        ...{ desk, paying, records, kill },
        spent: (budget) => spentWithinHour(database, budget),
        async anHourPasses() {
          await database.query(`update budget_entry set at = at - interval '1 hour'`)
        },
      }
    },
    lamports: (address) => node.account(address, 'processed')?.lamports ?? 0n,
    account: () => Keypair.generate().publicKey.toBase58(),
    async deposit(orderId, amount) {
      const { TransactionMessage, VersionedTransaction } = solanaLibrary()
      const message = new TransactionMessage({
        payerKey: user.publicKey,
        recentBlockhash: node.latestBlockhash(),
        instructions: [depositNative(depository, { sender: user.publicKey, amount, id: orderId })],
      })
      const transaction = new VersionedTransaction(message.compileToV0Message())
      transaction.sign([user])
      const sent = node.send(transaction.serialize(), { skipPreflight: false })
      if ('refusal' in sent) throw new Error(sent.refusal)
      return { transactionId: sent.signature, depositor: user.publicKey.toBase58() }
    },
    async stop() {
      await client.close()
      await Promise.all([proxy.stop(), rpc.stop(), server.stop()])
    },
  }
}

export const nativeCoin = solanaCodec.nativeCurrency
