import { keyIdText } from '../../access/keys/keyFields.ts'
import type { Command } from './command.ts'
import { readValue } from './readValue.ts'
import { tableOf } from './tableOf.ts'

export const walletCommands: readonly Command[] = [
  {
    words: 'wallets list',
    about: 'List sponsorship wallets and the keys that draw on them',
    operands: [],
    flags: {},
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
    about: 'Take the wallet from a key; its balance stays with the wallet',
    operands: ['id'],
    flags: {},
    async run({ administration, actor }, args) {
      const apiKeyId = readValue(keyIdText, args.operand('id'), '<id>')
      const { wallet } = await administration.wallets.unlink({ actor, apiKeyId })
      return { data: { id: apiKeyId, wallet }, lines: [`Key ${apiKeyId} no longer draws on ${wallet}.`] }
    },
  },
]
