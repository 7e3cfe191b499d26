import { type Hex, Secret } from '@causeway/core'
import { SolanaFees } from '@causeway/families/rules'
import { type FaultProxy, startFaultProxy } from '@causeway/localnet'
import { payingFamily } from '../../../packages/chains/src/chainFamilies.ts'
import type { PayingChain, PayingChainOptions } from '../../../packages/families/src/shared/payingChain.ts'
import { solanaQuotingChain } from '../../../packages/families/src/solana/quoting/solanaQuotingChain.ts'
import type { ChainClient } from '../../../packages/rpc/src/client.ts'
import { type SolanaBed, startSolanaBed } from './startSolanaBed.ts'

export const walletKey: Hex = `0x${'5e'.repeat(32)}`
export const fees = new SolanaFees({
  lamportsPerSignature: 5_000n,
  microLamportsPerUnit: 1_000n,
  rentLamportsPerByte: 6_960n,
})
export const bid = { fees, ceiling: 10_000n }

/** A cluster behind three endpoints, two of which must agree, and a fill wallet that holds SOL. */
export type FillWalletBed = {
  readonly bed: SolanaBed
  readonly proxies: readonly FaultProxy[]
  /** A process that has the key and remembers nothing. */
  openWallet(more?: Pick<PayingChainOptions, 'addressProgram'>): PayingChain
  stop(): Promise<void>
}

export async function startFillWalletBed(): Promise<FillWalletBed> {
  const bed = await startSolanaBed()
  const proxies = await Promise.all([1, 2, 3].map(() => startFaultProxy({ targetUrl: bed.url })))
  const client: ChainClient = solanaQuotingChain.connect({
    id: 'solana',
    vmType: 'solana-vm',
    network: undefined,
    hubChainId: '1',
    additionalData: {},
    ready: true,
    rpcThreshold: 2,
    unsetVariables: [],
    depository: bed.depository.program.toBase58(),
    endpoints: proxies.map(({ url }) => new Secret(url)),
  })
  const openWallet: FillWalletBed['openWallet'] = (more = {}) => {
    const opened = payingFamily({ vmType: 'solana-vm' })?.open({
      client,
      key: new Secret(walletKey),
      fillContract: undefined,
      ...more,
    })
    if (opened === undefined) throw new Error('the family pays')
    return opened
  }
  bed.node.airdrop(openWallet().address, 10n ** 11n)
  return {
    bed,
    proxies,
    openWallet,
    async stop() {
      await client.close()
      await Promise.all(proxies.map((proxy) => proxy.stop()))
      await bed.stop()
    },
  }
}
