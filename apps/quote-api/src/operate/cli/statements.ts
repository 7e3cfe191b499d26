import { readStatement } from '@causeway/ledger'
import { statementAnswer, statementCsv } from '../../money/statements/statementAnswer.ts'
import { statementGroupsOf, statementPeriod } from '../../money/statements/statementRequest.ts'
import type { Command } from './command.ts'
import { readWallet } from './readValue.ts'

export const statementCommands: readonly Command[] = [
  {
    words: 'statements show',
    about: 'What the balances of a wallet did in a month or between two days, as CSV; --json for JSON',
    operands: ['wallet'],
    flags: {
      month: { value: '<yyyy-mm>', about: 'Or --from and --to' },
      from: { value: '<yyyy-mm-dd>', about: 'The first day, UTC' },
      to: { value: '<yyyy-mm-dd>', about: 'The last day; default today' },
      'group-by': {
        value: '<names>',
        about: 'day, user, route, key, request, joined by commas; default day',
      },
    },
    async run({ database, chain }, args) {
      const wallet = readWallet(args.operand('wallet'), '<wallet>')
      const [month, from, to] = ['month', 'from', 'to'].map((flag) => args.text(flag))
      const period = statementPeriod({ month, from, to }, Date.now())
      const groups = statementGroupsOf(args.text('group-by'))
      const { sponsorCurrency } = await chain()
      const statement = await readStatement(database, { wallet, ...period, groups })
      const data = statementAnswer(wallet, period, statement, sponsorCurrency)
      return { data, lines: statementCsv(data) }
    },
  },
]
