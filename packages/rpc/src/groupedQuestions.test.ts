// Goal: no caller waits for ever because of what another one asks. Attack: a question that fits into no request.
import { expect, test } from 'vitest'
import { createQuestionGroups } from './groupedQuestions.ts'

test('F-87: a question too large for any request leaves alone, and holds up nobody behind it', async () => {
  const sent = await new Promise<readonly string[]>((resolve) => {
    const groups: string[] = []
    const { add } = createQuestionGroups<string>({
      inFlightMax: 1,
      defer: queueMicrotask,
      firstOf: (waiting) => (waiting[0] === 'large' ? [] : waiting),
      async send(group) {
        groups.push(group.join(' '))
        if (group.includes('small')) resolve(groups)
      },
      fail: () => {},
    })
    add('large')
    add('small')
  })
  expect(sent).toEqual(['large', 'small'])
}, 2_000)
