import { connectQuotingChain, payingFamily } from '@causeway/chains'
import { type Hex, Secret } from '@causeway/core'
import { solanaCodec } from '@causeway/core/encodings'
import type { PayingChain, ReadableChain } from '@causeway/families'
import {
  markBytes,
  paymentMarkerAddress,
  SolanaFees,
  solanaLibrary,
  systemProgram,
} from '@causeway/families/rules'
import { type FaultMode, startFaultProxy } from '@causeway/localnet'
import {
  type Depository,
  deployDepository,
  depositNative,
  SolanaNode,
  startRpcServer,
} from '@causeway/localnet/standIns/solana'
import type { ChainClient } from '@causeway/rpc'
import { expiringProcesses, type PayerBench } from './payerBench.ts'
import { openSolverDatabases } from './solverDatabases.ts'

export const solanaChainId = 792_703_809
export const solanaNow = 1_790_000_000
const lifetimeSeconds = 90
const walletKey: Hex = `0x${'5e'.repeat(32)}`
const fees = new SolanaFees({
  lamportsPerSignature: 5_000n,
  microLamportsPerUnit: 1_000n,
  rentLamportsPerByte: 6_960n,
})

/** Cost of a refund in coin: its fee and its marker. */
export const solanaRefundCost = fees.costOf({ kind: 'refund', isNative: true })

/** A local cluster with a depository. */
export type SolanaBench = Omit<PayerBench, 'process'> & {
  readonly node: SolanaNode
  readonly depository: Depository
  readonly process: ReturnType<typeof expiringProcesses>
  lamports(address: string): bigint
  /** @returns the transaction's id */
  deposit(
    orderId: Hex,
    amount: bigint,
  ): Promise<{ readonly transactionId: string; readonly depositor: string }>
}

export async function startSolanaBench(databases = openSolverDatabases()): Promise<SolanaBench> {
  const { Keypair } = solanaLibrary()
  const node = new SolanaNode()
  const rpc = await startRpcServer(node)
  const proxies = await Promise.all([1, 2, 3].map(() => startFaultProxy({ targetUrl: rpc.url })))
  const depository = deployDepository(node, Keypair.generate().publicKey.toBase58())
  node.airdrop(depository.addresses.vault, 10n ** 9n)
  const user = Keypair.generate()
  node.airdrop(user.publicKey.toBase58(), 10n ** 12n)
  const chain: ReadableChain = {
    id: 'solana',
    vmType: 'solana-vm',
    network: undefined,
    hubChainId: '1',
    additionalData: {},
    ready: true,
    rpcThreshold: 2,
    unsetVariables: [],
    depository: depository.program.toBase58(),
    endpoints: proxies.map(({ url }) => new Secret(url)),
  }
  const client: ChainClient | undefined = connectQuotingChain(chain)
  if (client === undefined) throw new Error('the chain is quoted')
  const open = (): PayingChain => {
    const paying = payingFamily(chain)?.open({ client, key: new Secret(walletKey), fillContract: undefined })
    if (paying === undefined) throw new Error('the family pays')
    return paying
  }
  const wallet = open().address
  node.airdrop(wallet, 10n ** 12n)
  node.tick(BigInt(solanaNow))
  const set = async (mode: FaultMode, count = 1) => {
    await Promise.all(proxies.slice(0, count).map((proxy) => proxy.set(mode)))
  }
  /** One shows other values of these methods. */
  const say = (values: Readonly<Record<string, (value: readonly unknown[]) => readonly unknown[]>>) =>
    set({
      kind: 'lie',
      rewrite({ method }, result) {
        const rewrite = values[method]
        return rewrite ? { ...Object(result), value: rewrite(Object(result).value) } : result
      },
    })
  const lamports = (address: string) => node.account(address, 'processed')?.lamports ?? 0n
  return {
    node,
    depository,
    chain,
    wallet,
    lamports,
    database: databases.database,
    chainId: solanaChainId,
    coin: solanaCodec.nativeCurrency,
    process: expiringProcesses({
      chainId: solanaChainId,
      landsWithinSeconds: lifetimeSeconds,
      fees,
      open,
      ceiling: 10_000n,
      gasPerHour: 10n ** 9n,
      expire: async () => node.mine(160),
    }),
    held: async (address) => lamports(address),
    nowSeconds: async () => solanaNow,
    hold: async () => node.hold(),
    async mine() {},
    settle: async () => node.finalize(),
    async land(raw) {
      node.send(Buffer.from(raw.slice(2), 'hex'), { skipPreflight: true })
    },
    faults: {
      hide: () =>
        say({
          getMultipleAccounts: ([, ...rest]) => [null, ...rest],
          getSignatureStatuses: (statuses) => statuses.map(() => null),
        }),
      invent(_payment, state) {
        const data = [Buffer.alloc(markBytes[state]).toString('base64'), 'base64']
        const marker = { lamports: 897_840, owner: systemProgram, executable: false, data }
        const landed = { slot: 1, confirmations: null, err: null, confirmationStatus: 'finalized' }
        return say({
          getMultipleAccounts: ([, ...rest]) => [marker, ...rest],
          getSignatureStatuses: (statuses) => statuses.map(() => landed),
        })
      },
      hasten: () =>
        set({
          kind: 'lie',
          rewrite: ({ method }, result) => (method === 'getBlockHeight' ? 10 ** 9 : result),
        }),
      silence: (count) => set({ kind: 'refuse' }, count),
      garble(id) {
        const marker = paymentMarkerAddress(wallet, id)
        const isAbout = (params: readonly unknown[]) => JSON.stringify(params).includes(marker)
        const rewrite = ({ params }: { readonly params: readonly unknown[] }, result: unknown) =>
          isAbout(params) ? 'nonsense' : result
        return set({ kind: 'lie', rewrite }, 3)
      },
      heal: () => set({ kind: 'pass' }, 3),
    },
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
      await Promise.all([...proxies.map((proxy) => proxy.stop()), rpc.stop(), databases.stop()])
    },
  }
}

export const nativeCoin = solanaCodec.nativeCurrency
