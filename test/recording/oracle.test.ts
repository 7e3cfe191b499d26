// Goal: nothing that callers of the oracle see changes unnoticed, to the last byte that is signed. Method: two
// oracles over real nodes and the stand-ins of the other families answer the same requests as when the recording
// was made (`npm run tools -- record`), and every answer is compared with it.
import { recordFamilies } from './oracle/families.ts'
import { recordRecovery } from './oracle/recovery.ts'
import { recordOracleRoutes, recordSecondOracle } from './oracle/routes.ts'
import { recordSettlement } from './oracle/settlement.ts'
import { recordWithdrawals } from './oracle/withdrawals.ts'
import { checkGroups } from './support/checkGroups.ts'
import { type OracleStage, openOracleStage } from './support/stage.ts'
import { readDescription, readMetrics } from './support/surface.ts'

const oracle = (stage: OracleStage) => stage.oracle
const secondOracle = (stage: OracleStage) => stage.secondOracle

checkGroups(
  openOracleStage,
  [
    ['oracle/routes', oracle, recordOracleRoutes],
    ['oracle/families', oracle, recordFamilies],
    ['oracle/settlement', oracle, recordSettlement],
    ['oracle/withdrawals', oracle, recordWithdrawals],
    ['oracle/recovery', oracle, recordRecovery],
    ['oracle/second', secondOracle, recordSecondOracle],
  ],
  oracle,
  [
    ['oracle/description', ({ world }) => readDescription(world.oracles[0].publicUrl)],
    ['oracle/metrics', ({ world }) => readMetrics(world.oracles[0].opsUrl)],
  ],
)
