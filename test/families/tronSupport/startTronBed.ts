import { createTronCodec, tronAddress } from '@causeway/core/encodings'
import type { LocalAccount } from '@causeway/localnet'
import type { FaultyService } from '@causeway/localnet/standIns/http'
import {
  createTronLedger,
  type FacadeSettings,
  startTronFacade,
  type TronLedger,
} from '@causeway/localnet/standIns/tron'
import { type ChainBed, startChainBed } from '../ethereumSupport/startChainBed.ts'

/** The contracts of one test chain behind the Tron facade; `depository` and tokens in base58. */
export type TronBed = {
  readonly evm: ChainBed
  readonly ledger: TronLedger
  readonly facade: FaultyService
  readonly user: LocalAccount
  readonly other: LocalAccount
  readonly depository: string
  readonly usdc: string
  /** Another endpoint of the same chain. */
  startFacade(settings?: FacadeSettings): Promise<FaultyService>
  stop(): Promise<void>
}

export const trx = createTronCodec().nativeCurrency
/** Chain id of the main network, which the facade's first block carries. */
export const chainId = 728_126_428n

export async function startTronBed(): Promise<TronBed> {
  return tronBedOn(await startChainBed())
}

/** `stop` ends the chain behind it too. */
export async function tronBedOn(evm: ChainBed): Promise<TronBed> {
  const [user, other] = evm.network.keys.users
  if (user === undefined || other === undefined) throw new Error('no user')
  const ledger = createTronLedger(evm)
  const startFacade = (settings: FacadeSettings = {}) =>
    startTronFacade(evm, ledger, { chainId, ...settings })
  const facade = await startFacade()
  return {
    evm,
    ledger,
    facade,
    user,
    other,
    startFacade,
    depository: tronAddress(evm.deployment.depository),
    usdc: tronAddress(evm.deployment.tokens.USDC),
    async stop() {
      await facade.stop()
      await evm.stop()
    },
  }
}
