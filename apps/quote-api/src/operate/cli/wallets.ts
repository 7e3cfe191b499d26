import { formatAmount } from '@causeway/core'
import { keyIdText } from '../../access/keys/keyFields.ts'
import type { Command } from './command.ts'
import { readValue, readWallet } from './readValue.ts'
import { tableOf } from './tableOf.ts'

export const walletCommands: readonly Command[] = [
  {
    words: 'wallets list',
    about: 'List sponsorship wallets and the keys that draw on them',
    async run({ administration }) {
      const wallets = await administration.wallets.list()
      const rows = wallets.flatMap(({ wallet, keys }) =>
        keys.map(({ id, label, linkedAt }) => ({ wallet, key: id, label, linked: linkedAt.toISOString() })),
      )
      return { data: { wallets }, lines: rows.length === 0 ? ['No wallet is linked.'] : tableOf(rows) }
    },
  },
  {
    words: 'wallets unlink',
    changes: true,
    about: 'Take the wallet from a key; its balance stays with the wallet',
    operands: ['id'],
    async run({ administration, actor }, args) {
      const apiKeyId = readValue(keyIdText, args.operand('id'), '<id>')
      const { wallet } = await administration.wallets.unlink({ actor, apiKeyId })
      return { data: { id: apiKeyId, wallet }, lines: [`Key ${apiKeyId} no longer draws on ${wallet}.`] }
    },
  },
]

const usdcDecimals = 6

export const balanceCommands: readonly Command[] = [
  {
    words: 'balance show',
    about: 'Show what a sponsorship wallet has, holds and is about to get',
    operands: ['wallet'],
    async run({ administration }, args) {
      const wallet = readWallet(args.operand('wallet'), '<wallet>')
      const { availableMicroUsd, heldMicroUsd, pendingMicroUsd } = await administration.ledger.balance(wallet)
      const usdc = (microUsd: bigint) => `${formatAmount(microUsd, usdcDecimals)} USDC`
      return {
        data: { wallet, availableMicroUsd, heldMicroUsd, pendingMicroUsd },
        lines: [
          `available: ${usdc(availableMicroUsd)}`,
          `held:      ${usdc(heldMicroUsd)} for open quotes`,
          `pending:   ${usdc(pendingMicroUsd)} seen on chain, not final`,
        ],
      }
    },
  },
]
