import { openFamilyChain } from '@causeway/chains'
import { encodeFillExtraData, type Hex, onchainId } from '@causeway/core'
import { tronAddress } from '@causeway/core/encodings'
import { encodeDepositNative } from '@causeway/families/rules'
import { startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { chainBedOn } from '../../families/ethereumSupport/startChainBed.ts'
import { chainId, tronBedOn, trx } from '../../families/tronSupport/startTronBed.ts'
import { evmWithdrawal, fillData, placeOf } from './evmPayments.ts'
import type { FamilyBed } from './familyBed.ts'
import { payeeOf } from './payeeOf.ts'
import { readableChain } from './readableChain.ts'
import { startRoundProxy } from './roundProxy.ts'

const id = 'tron'
const recipientBytes: Hex = `0x${'71'.repeat(20)}`
const otherBytes: Hex = `0x${'72'.repeat(20)}`
const [recipient, otherRecipient] = [tronAddress(recipientBytes), tronAddress(otherBytes)]
const payees = { [recipient]: recipientBytes, [otherRecipient]: otherBytes }

/**
 * The contracts of a real node behind the stand-in of Tron's HTTP API.
 * @param network runs already; its owner stops it
 */
export async function startTronFamilyBed(network?: TestNetwork): Promise<FamilyBed> {
  const running = network ?? (await startTestNetwork())
  const { evm, ledger, facade, user, depository } = await tronBedOn(chainBedOn(running, 'optimism'))
  const { deployment } = evm
  const upstream = await startRoundProxy(facade.url)
  const chain = readableChain(upstream.url, {
    id,
    vmType: 'tron-vm',
    hubChainId: String(chainId),
    depository,
    finality: { mode: 'tag' },
    fillContracts: [tronAddress(deployment.fillContract)],
  })
  const trigger = (from: typeof user, to: Hex, data: Hex, callValue: bigint) =>
    ledger.submit(from, { kind: 'trigger', to, data, callValue })
  const deposit: FamilyBed['deposit'] = async ({ orderId, amount }) => {
    const data = encodeDepositNative(user.address, orderId)
    const { transactionId, evmHash } = await trigger(user, deployment.depository, data, amount)
    const { logIndex, timestampSeconds } = await placeOf(evm, evmHash)
    return {
      transactionId,
      timestampSeconds,
      onchainId: onchainId({ chainId: id, transactionId, onchainIndex: logIndex }),
    }
  }
  return {
    chain,
    upstream,
    recipient,
    otherRecipient,
    deposit,
    currency: trx,
    decimals: 6,
    depositor: tronAddress(user.address),
    extraData: encodeFillExtraData(deployment.fillContract),
    async pay({ orderId, recipient: payee, amount }) {
      const { fillWallet } = running.keys
      const data = fillData(orderId, payeeOf(payees, payee), amount)
      return (await trigger(fillWallet, deployment.fillContract, data, amount)).transactionId
    },
    async withdrawal(status) {
      const value = 5n
      if (status === 'executed') await deposit({ orderId: `0x${'00'.repeat(32)}`, amount: value })
      return evmWithdrawal(evm, { status, to: recipientBytes, value }, async (data) => {
        return (await trigger(user, deployment.depository, data, 0n)).transactionId
      })
    },
    finalize: () => evm.mine(2),
    open: (finalEntriesMax = 0) => openFamilyChain(chain, { finalEntriesMax }),
    async stop() {
      await upstream.stop()
      await facade.stop()
      if (network === undefined) await running.stop()
    },
  }
}
