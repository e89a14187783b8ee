import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ask } from './api/ask.js'
import { createEstimates } from './api/estimates.js'
import { AppContext } from './app/app.js'
import { Entrance } from './app/Entrance.js'
import { createRouter } from './router/router.js'
import { firstState } from './store/first-data.js'
import { createStore } from './store/store.js'
import './styles/tokens.css'
import './styles/base.css'
import './styles/controls.css'
import './styles/shell.css'
import './styles/issues.css'
import './styles/cards.css'

const store = createStore({ storage: window.localStorage, first: firstState(new Date()) })
const app = { store, router: createRouter(window), estimates: createEstimates(store, ask), ask }

const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <StrictMode>
      <AppContext value={app}>
        <Entrance />
      </AppContext>
    </StrictMode>,
  )
}
