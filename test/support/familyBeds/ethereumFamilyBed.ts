import { openFamilyChain } from '@causeway/chains'
import { encodeFillExtraData, type Hex, onchainId } from '@causeway/core'
import { ethereumCodec } from '@causeway/core/encodings'
import { encodeDepositNative } from '@causeway/families/rules'
import { startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { chainBedOn } from '../../families/ethereumSupport/startChainBed.ts'
import { evmWithdrawal, fillData, placeOf } from './evmPayments.ts'
import type { FamilyBed } from './familyBed.ts'
import { payeeOf } from './payeeOf.ts'
import { readableChain } from './readableChain.ts'
import { startRoundProxy } from './roundProxy.ts'

const id = 'base'
const recipient: Hex = `0x${'e1'.repeat(20)}`
const otherRecipient: Hex = `0x${'e2'.repeat(20)}`
const payees = { [recipient]: recipient, [otherRecipient]: otherRecipient }

/** A real node with the real contracts. @param network runs already; its owner stops it */
export async function startEthereumFamilyBed(network?: TestNetwork): Promise<FamilyBed> {
  const running = network ?? (await startTestNetwork())
  const bed = chainBedOn(running, 'base')
  const { depository, fillContract } = bed.deployment
  const { keys } = running
  const [user] = keys.users
  if (user === undefined) throw new Error('the network has no user')
  const upstream = await startRoundProxy(bed.url)
  const chain = readableChain(upstream.url, {
    id,
    vmType: 'ethereum-vm',
    hubChainId: String(bed.chain.chainId),
    depository,
    finality: { mode: 'depth', blocks: 2 },
    fillContracts: [fillContract],
  })
  const deposit: FamilyBed['deposit'] = async ({ orderId, amount }) => {
    const data = encodeDepositNative(user.address, orderId)
    const { transactionId } = await bed.send(user, depository, data, amount)
    const { logIndex, timestampSeconds } = await placeOf(bed, transactionId)
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
    currency: ethereumCodec.nativeCurrency,
    decimals: 18,
    depositor: user.address.toLowerCase(),
    extraData: encodeFillExtraData(fillContract),
    async pay({ orderId, recipient: payee, amount }) {
      const data = fillData(orderId, payeeOf(payees, payee), amount)
      return (await bed.send(keys.fillWallet, fillContract, data, amount)).transactionId
    },
    async withdrawal(status) {
      const value = 5n
      if (status === 'executed') await deposit({ orderId: `0x${'00'.repeat(32)}`, amount: value })
      return evmWithdrawal(bed, { status, to: recipient, value }, async (data) => {
        return (await bed.send(user, depository, data)).transactionId
      })
    },
    finalize: () => bed.mine(2),
    open: (finalEntriesMax = 0) => openFamilyChain(chain, { finalEntriesMax }),
    async stop() {
      await upstream.stop()
      if (network === undefined) await running.stop()
    },
  }
}
