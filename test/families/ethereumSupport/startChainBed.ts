import { type ChainBed, chainBedOn, startTestNetwork } from '@causeway/localnet'

export { type ChainBed, chainBedOn } from '@causeway/localnet'

export async function startChainBed(): Promise<ChainBed> {
  return chainBedOn(await startTestNetwork(), 'base')
}
