import type { StoredBody } from '@causeway/localnet/standIns/bodies'
import { bitcoinBodies } from '../../packages/localnet/src/standIns/bitcoin/bodies.ts'
import { httpBodies } from '../../packages/localnet/src/standIns/http/bodies.ts'
import { hyperliquidBodies } from '../../packages/localnet/src/standIns/hyperliquid/bodies.ts'
import { lighterBodies } from '../../packages/localnet/src/standIns/lighter/bodies.ts'
import { solanaBodies } from '../../packages/localnet/src/standIns/solana/bodies.ts'
import { tronBodies } from '../../packages/localnet/src/standIns/tron/bodies.ts'
import { recordedTransactions } from '../../test/families/solanaSupport/storedBodies.ts'
import * as recordedTron from '../../test/families/tronSupport/storedBodies.ts'

/** Every stored body of the families that no real node runs for. */
export const storedBodies: Readonly<Record<string, readonly StoredBody[]>> = {
  'solana-vm': [...recordedTransactions, ...Object.values(solanaBodies)],
  'bitcoin-vm': Object.values(bitcoinBodies),
  'hyperliquid-vm': Object.values(hyperliquidBodies),
  'lighter-vm': Object.values(lighterBodies),
  'tron-vm': [...Object.values(recordedTron), ...Object.values(tronBodies)],
  'any HTTP API': Object.values(httpBodies),
}
