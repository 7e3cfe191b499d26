import { connectQuotingChain, payingFamily } from '@causeway/chains'
import { type Hex, Secret } from '@causeway/core'
import { solanaCodec } from '@causeway/core/encodings'
import type { RegisteredChain } from '@causeway/families'
import { paymentMarkerAddress, SolanaFees, solanaLibrary } from '@causeway/families/rules'
import { type FaultProxy, startFaultProxy } from '@causeway/localnet'
import {
  type Depository,
  deployDepository,
  depositNative,
  SolanaNode,
  startRpcServer,
} from '@causeway/localnet/standIns/solana'
import type { ChainClient } from '@causeway/rpc'
import type { ExpiringBench } from './expiringKills.ts'
import { type Processes, startProcesses } from './expiringProcess.ts'

export const solanaChainId = 792_703_809
export const solanaNow = 1_790_000_000
const lifetimeSeconds = 90
const walletKey: Hex = `0x${'5e'.repeat(32)}`
const fees = new SolanaFees({
  ...{ lamportsPerSignature: 5_000n, microLamportsPerUnit: 1_000n, rentLamportsPerByte: 6_960n },
})

/** Cost of a refund in coin: its fee and its marker. */
export const solanaRefundCost = fees.costOf({ kind: 'refund', isNative: true })

/** A local cluster with a depository behind one endpoint that faults are put into, and a database server. */
export type SolanaBench = Omit<ExpiringBench, 'process'> & {
  readonly node: SolanaNode
  readonly depository: Depository
  readonly chain: RegisteredChain
  readonly proxy: FaultProxy
  readonly process: Processes['process']
  lamports(address: string): bigint
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
  const open = () =>
    payingFamily(chain)?.open({ client, key: new Secret(walletKey), fillContract: undefined })
  const wallet = open()?.address ?? ''
  node.airdrop(wallet, 10n ** 12n)
  node.tick(BigInt(solanaNow))
  const processes = await startProcesses({
    ...{ chainId: solanaChainId, landsWithinSeconds: lifetimeSeconds, fees },
    ...{ ceiling: 10_000n, gasPerHour: 10n ** 9n },
    open() {
      const paying = open()
      if (paying === undefined) throw new Error('the family pays')
      return paying
    },
  })

  const lamports = (address: string) => node.account(address, 'processed')?.lamports ?? 0n
  return {
    ...{ node, depository, chain, proxy, wallet, lamports, bid: { fees, ceiling: 10_000n } },
    ...{ chainId: solanaChainId, coin: solanaCodec.nativeCurrency },
    held: async (address) => lamports(address),
    nowSeconds: async () => solanaNow,
    showsFailures: true,
    settle: async () => undefined,
    expire: async () => node.mine(160),
    async land(raw) {
      node.send(Buffer.from(raw.slice(2), 'hex'), { skipPreflight: true })
    },
    cutOff: (isCutOff) => proxy.set({ kind: isCutOff ? 'refuse' : 'pass' }),
    garble: (id) =>
      id === undefined
        ? proxy.set({ kind: 'pass' })
        : proxy.set({
            kind: 'lie',
            rewrite: ({ method, params }, result) =>
              method === 'getMultipleAccounts' &&
              JSON.stringify(params).includes(paymentMarkerAddress(wallet, id))
                ? 'nonsense'
                : result,
          }),
    ...{ database: processes.database, process: processes.process },
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
      await Promise.all([proxy.stop(), rpc.stop(), processes.stop()])
    },
  }
}

export const nativeCoin = solanaCodec.nativeCurrency
