// Goal: whatever a Lighter endpoint answers, the reader answers with the true facts or a typed refusal. Method: the contract of
// all families, and answers of its own that are none. CAUSEWAY_FAULTS=1 runs 10,000 random changes for each question.
import { lighterBodies } from '@causeway/localnet/standIns/lighter'
import { describeLies } from '../readerSupport/describeLies.ts'
import { everyAnswer } from '../readerSupport/factsCase.ts'
import { mutateText } from './bitcoinSupport/mutateText.ts'
import { startLighterFacts } from './lighterSupport/facts.ts'

const { internal, invalidParameter } = lighterBodies.otherErrors.body
const say = (text: string, status = 200) => everyAnswer({ status, text })

describeLies('lighter-vm', startLighterFacts, {
  refusals: [
    ['null', say('null')],
    ['another code', say(internal)],
    ['a code that is a text', everyAnswer({ change: (answer) => answer.replace('200', '"200"') })],
    ['an invalid parameter', say(invalidParameter, 400)],
    ['status 400 without a body', say('', 400)],
    ['status 404 of another server', say('not here', 404)],
    ['2 MiB of white space', everyAnswer({ change: (answer) => ' '.repeat(2 ** 21) + answer })],
  ],
  // What was signed, inside the text that it travels as.
  mutateInside(answer, seed) {
    const body: unknown = JSON.parse(answer)
    return JSON.stringify({ ...Object(body), info: mutateText(String(Object(body).info), seed) })
  },
})
