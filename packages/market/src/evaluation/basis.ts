import type { AgreementReport } from '@causeway/chains'
import type { AgreedKind } from '../chain/chainReading.ts'
import type { ChainFacts } from '../chain/chainState.ts'
import { isWitness } from '../prices/secondSource.ts'
import { isFresh, type SourceReading } from '../prices/source.ts'
import type { ChainBasis, PriceWitness } from '../snapshot.ts'

/** How many endpoints said the same of a chain when it was read last. */
export type AgreementOf = (chainKey: string) => ReadonlyMap<AgreedKind, AgreementReport> | undefined

/** Those of a price's sources that made it or confirmed it. */
export function witnessesOf(readings: readonly SourceReading[], nowMs: number): readonly PriceWitness[] {
  return readings.flatMap((reading) => {
    if (!isWitness(reading) || !isFresh(reading, nowMs)) return []
    const { source, block, result } = reading
    const { usdX18, updatedAtMs } = result
    return [{ source, usdX18, updatedAtMs, ...(block !== undefined && { block }) }]
  })
}

/** What is known of a chain's reading, for whoever asks later what was read. */
export function chainBasis({ reading }: ChainFacts, reports: ReturnType<AgreementOf>): ChainBasis {
  const { head, fees } = reading
  const agreed = reports?.get('state') ?? reports?.get('head')
  return {
    block: head.number,
    ...(head.hash !== undefined && { hash: head.hash }),
    ...(fees.shown !== undefined && { networkFee: networkFeeText(fees.shown) }),
    ...(agreed !== undefined && { agreed: agreed.agreed, configured: agreed.configured }),
  }
}

function networkFeeText(shown: NonNullable<ChainFacts['reading']['fees']['shown']>): string {
  return 'expectedWei' in shown
    ? `${shown.expectedWei} wei per gas`
    : `${shown.microLamportsPerUnit} micro-lamports per compute unit`
}
