import { createHash } from 'node:crypto'
import { renderTransferInfo, startLighterNode } from '../standIns/lighter/index.ts'
import { ownerlessAddress } from './familyPlans.ts'
import { type FamilyStandIn, firstTimeMs } from './standIn.ts'

/** Transfers of USDC between perps accounts, behind the API of the exchange. */
export async function openLighter(port: number, depository: string): Promise<FamilyStandIn> {
  const node = await startLighterNode(port)
  node.setContract(ownerlessAddress('lighter contract'))
  node.setAccount(depository, ownerlessAddress('lighter depository'))
  let nonce = 0n
  return {
    url: node.url,
    stop: node.stop,
    async deposit(amount, depositor) {
      const digest = createHash('sha512').update(`lighter ${depositor}`).digest('hex')
      const account = BigInt(Number.parseInt(digest.slice(-8), 16))
      node.setAccount(account.toString(), ownerlessAddress(depositor))
      // 40 bytes, as real ones have.
      const hash = digest.slice(0, 80)
      const queuedAtMs = BigInt(firstTimeMs)
      nonce += 1n
      const info = renderTransferInfo({
        ...{ FromAccountIndex: account, ApiKeyIndex: 4n, ToAccountIndex: BigInt(depository) },
        ...{ AssetIndex: 3n, FromRouteType: 0n, ToRouteType: 0n, Amount: amount, USDCFee: 0n },
        ...{ Memo: new Array<number>(32).fill(0), ExpiredAt: queuedAtMs + 600_000n, Nonce: nonce },
      })
      node.put({ hash, type: 12, status: 3, queuedAtMs, info })
      return { transactionId: hash }
    },
  }
}
