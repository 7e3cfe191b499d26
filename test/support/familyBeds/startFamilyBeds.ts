import type { VmType } from '@causeway/core/encodings'
import { startTestNetwork } from '@causeway/localnet'
import { startBitcoinFamilyBed } from './bitcoinFamilyBed.ts'
import { startEthereumFamilyBed } from './ethereumFamilyBed.ts'
import type { FamilyBed } from './familyBed.ts'
import { startHyperliquidFamilyBed } from './hyperliquidFamilyBed.ts'
import { startLighterFamilyBed } from './lighterFamilyBed.ts'
import { startSolanaFamilyBed } from './solanaFamilyBed.ts'
import { startTronFamilyBed } from './tronFamilyBed.ts'

export type FamilyBeds = {
  readonly of: Readonly<Record<VmType, FamilyBed>>
  stop(): Promise<void>
}

/** One chain of each family. Ethereum and Tron are two chains of one test network. */
export async function startFamilyBeds(): Promise<FamilyBeds> {
  const network = await startTestNetwork()
  const of = {
    'ethereum-vm': await startEthereumFamilyBed(network),
    'solana-vm': await startSolanaFamilyBed(),
    'bitcoin-vm': await startBitcoinFamilyBed(),
    'hyperliquid-vm': await startHyperliquidFamilyBed(),
    'lighter-vm': await startLighterFamilyBed(),
    'tron-vm': await startTronFamilyBed(network),
  }
  return {
    of,
    async stop() {
      await Promise.all(Object.values(of).map((bed) => bed.stop()))
      await network.stop()
    },
  }
}
